internal import Pintle
internal import PintleTestKit

/// The facts about the right servers that a client needs: the anchors to trust, and the pins. All hosts have the same keys.
struct RehearsalKit {
    let anchorsPEM: String
    let pin: PublicKeyPin
    let backup: PublicKeyPin
    let issuer: PublicKeyPin
    let policy: PinningPolicy
    let other: OtherHostKit?

    init(_ cast: AttackCast, hosts: [String]? = nil) throws(ToolError) {
        anchorsPEM = cast.anchorsPEM
        do {
            pin = try PublicKeyPin(subjectPublicKeyInfo: cast.genuine.certificate.spkiDER)
            backup = try PublicKeyPin(subjectPublicKeyInfo: cast.backup.spkiDER)
            issuer = try PublicKeyPin(subjectPublicKeyInfo: cast.intermediate.certificate.spkiDER)
            let anchors = try [cast.authority, cast.otherAuthority].map { try Certificate(der: $0.certificate.der) }
            let (pins, backupPins) = ([Pin(.publicKey(pin))], [Pin(.publicKey(backup))])
            let rules = try (hosts ?? [cast.host]).map {
                try PinnedHost($0, pins: pins, backupPins: backupPins, anchors: .only(anchors))
            }
            policy = try PinningPolicy(hosts: rules, unpinnedHosts: .reject)
            other = try OtherHostKit(cast, anchors: .only(anchors), beside: rules)
        } catch {
            throw .unusable("no-certificates", "the certificates of the attacks cannot be read: \(error)")
        }
    }

    /// Returns the values of the placeholders that are the same at every server.
    ///
    /// - Parameter number: The number of the host, which keeps its files apart from those of others.
    func values(folder: TemporaryDirectory, number: Int = 0) throws(ToolError) -> [String: String] {
        var values: [String: String] = [:]
        do {
            values["ca"] = try folder.write(anchorsPEM, to: "authorities.pem")
            values["policy"] = try folder.write(policy.json(), to: "policy.json")
            try other?.add(to: &values, file: "policy-of-both-\(number).json", folder: folder)
        } catch {
            throw .unusable("unwritable-file", "\(error)")
        }
        for (name, pin) in [("pin", pin), ("backup", backup), ("issuer", issuer)] {
            values["\(name)-base64"] = Self.base64(pin)
            values[name] = Self.curl(pin)
        }
        values["pins"] = Self.curl(pin) + ";" + Self.curl(backup)
        return values
    }

    static func base64(_ pin: PublicKeyPin) -> String { String("\(pin)".dropFirst("sha256/".count)) }

    /// Returns a pin in the form that curl's `--pinnedpubkey` takes.
    static func curl(_ pin: PublicKeyPin) -> String { "sha256//" + base64(pin) }
}
