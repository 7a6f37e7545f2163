internal import Pintle
internal import PintleTestKit

/// The facts about another host at the same address, for a client that pins two hosts.
///
/// Only the attack on such clients gets the policy of both hosts. For all other attacks the other host has no pins, because
/// one of them redirects the client to a host without pins.
struct OtherHostKit {
    let host: String
    let pin: PublicKeyPin
    /// The policy with a rule for each host.
    private let policy: PinningPolicy

    /// The key of the policy's path. It is not a placeholder.
    private static let policyKey = "policy of both hosts"

    /// - Returns: `nil` if the catalogue has no other host.
    init?(_ cast: AttackCast, anchors: TrustAnchors, beside rules: [PinnedHost]) throws {
        guard let other = cast.otherHost, let identity = cast.otherGenuine else { return nil }
        host = other
        pin = try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER)
        let second = try PinnedHost(other, pins: [Pin(.publicKey(pin))], backup: .noneAccepted, anchors: anchors)
        policy = try PinningPolicy(hosts: rules + [second], unpinnedHosts: .reject)
    }

    /// Adds the values of the placeholders.
    func add(to values: inout [String: String], file: String, folder: TemporaryDirectory) throws {
        values["other-host"] = host
        values["other-pin"] = RehearsalKit.curl(pin)
        values["other-pin-base64"] = RehearsalKit.base64(pin)
        values[Self.policyKey] = try folder.write(policy.json(), to: file)
    }

    /// Returns the values for one attack.
    static func values(_ values: [String: String], for attack: Attack) -> [String: String] {
        var values = values
        if let both = values.removeValue(forKey: policyKey), attack.needsOtherPin { values["policy"] = both }
        return values
    }

    /// Returns `true` if the client gets the other host's pin in any form.
    static func isUsed(by client: ClientCommand) -> Bool {
        ["policy", "other-pin", "other-pin-base64"].contains(where: client.uses)
    }
}
