internal import PintleTestKit
internal import PintleURLSession

/// One server, the policy that an app has, and what has to come of it.
struct Attack: Sendable {
    let name: String
    /// What the server shows.
    let credential: TLSServerConfiguration.Credential
    let policy: PinningPolicy
    /// `trusted`, or the reason of the refusal, with the path failure where every validator gives the same.
    let expected: String
    /// Whether the path failure is a part of what is expected.
    let comparesFailure: Bool

    init(
        _ name: String, _ expected: String, _ chain: [[UInt8]], _ key: PrivateKey, _ policy: PinningPolicy,
        comparesFailure: Bool = true
    ) {
        self.name = name
        self.expected = expected
        credential = TLSServerConfiguration.Credential(chain: chain, key: key)
        self.policy = policy
        self.comparesFailure = comparesFailure
    }

    init(_ name: String, _ expected: String, _ identity: Identity, _ policy: PinningPolicy) {
        self.init(name, expected, identity.chain, identity.key, policy)
    }
}

/// What was seen of an attack.
public struct AttackResult: Sendable {
    public let name: String
    public let expected: String
    public let seen: String
    /// What the server got after its handshake, decrypted.
    public let bytes: Int

    /// As expected, and nothing sent where nobody was trusted.
    public var isAsExpected: Bool { seen == expected && (bytes > 0) == seen.hasPrefix("trusted") }
}
