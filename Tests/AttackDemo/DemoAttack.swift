internal import PintleTestKit
internal import PintleURLSession

/// An attack of the catalogue, the policy that an app has, and what has to come of it.
struct DemoAttack: Sendable {
    let name: String
    let attack: Attack
    let policy: PinningPolicy
    /// `trusted`, or the reason of the refusal, with the path failure where every validator gives the same.
    let expected: String
    /// Whether the path failure is a part of what is expected.
    let comparesFailure: Bool
}

/// What was seen of an attack.
public struct AttackResult: Sendable {
    public let name: String
    public let expected: String
    public let seen: String
    /// What came to where the attack is, decrypted.
    public let bytes: Int

    /// As expected, and nothing sent where nobody was trusted.
    public var isAsExpected: Bool { seen == expected && (bytes > 0) == seen.hasPrefix("trusted") }
}
