internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyTools
internal import PintleTestKit

/// The anchors that a client must trust, and the pins of the right servers. All hosts have the same keys.
struct TrustMaterial: Sendable {
    let pin: PublicKeyPin
    let backup: PublicKeyPin
    /// The second host at the same address, for a client that pins two hosts; `nil` if the catalogue has none.
    let other: (host: String, pin: PublicKeyPin)?
    private let issuer: PublicKeyPin
    private let certificates: Certificates
    private let policy: PinningPolicy
    /// The policy with a rule for the second host too. Only the attack on clients that pin both gets it. In all other
    /// attacks the second host has no pins, because one of them redirects the client to a host without pins.
    private let policyOfBoth: PinningPolicy?

    /// - Parameters:
    ///   - hosts: the hosts of the policy; `nil` for that of the certificates.
    ///   - root: a further anchor of the policy.
    init(
        _ certificates: Certificates, hosts: [String]? = nil, trusting root: MintedCertificate? = nil
    ) throws(ToolError) {
        self.certificates = certificates
        do {
            pin = try PublicKeyPin(subjectPublicKeyInfo: certificates.genuine.certificate.spkiDER)
            backup = try PublicKeyPin(subjectPublicKeyInfo: certificates.backup.spkiDER)
            issuer = try PublicKeyPin(subjectPublicKeyInfo: certificates.intermediate.certificate.spkiDER)
            let anchors = TrustAnchors.only(
                try [certificates.authority.certificate, certificates.otherAuthority.certificate, root]
                    .compactMap(\.self).map { try Certificate(der: $0.der) })
            let (pins, backupPins) = ([Pin(.publicKey(pin))], [Pin(.publicKey(backup))])
            let rules = try (hosts ?? [certificates.host]).map {
                try PinnedHost($0, pins: pins, backupPins: backupPins, anchors: anchors)
            }
            policy = try PinningPolicy(hosts: rules, unpinnedHosts: .reject)
            if let host = certificates.secondHost, let identity = certificates.secondGenuine {
                let pin = try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER)
                let rule = try PinnedHost(host, pins: [Pin(.publicKey(pin))], backup: .noneAccepted, anchors: anchors)
                other = (host, pin)
                policyOfBoth = try PinningPolicy(hosts: rules + [rule], unpinnedHosts: .reject)
            } else {
                (other, policyOfBoth) = (nil, nil)
            }
        } catch {
            throw .unusable("no-certificates", "the certificates of the attacks cannot be read: \(error)")
        }
    }

    /// Returns the hosts with the values of the placeholders that are the same at every server, and writes the files
    /// among them into a folder.
    ///
    /// - Parameter root: a further anchor of the policy.
    static func fill(
        _ hosts: [AttackedHost], in folder: TemporaryDirectory, trusting root: MintedCertificate? = nil
    ) throws(ToolError) -> [AttackedHost] {
        var hosts = hosts
        for number in hosts.indices {
            try TrustMaterial(hosts[number].catalogue.certificates, hosts: hosts.map(\.name), trusting: root)
                .setValues(of: &hosts[number], folder: folder, number: number)
        }
        return hosts
    }

    /// - Parameter number: The number of the host, which keeps its files apart from those of others.
    private func setValues(of host: inout AttackedHost, folder: TemporaryDirectory, number: Int) throws(ToolError) {
        do {
            host.values["ca"] = try folder.write(certificates.anchorsPEM, to: "authorities.pem")
            if let client = certificates.client {
                host.values["identity"] = try folder.write(client.chainPEM + client.key.pem, to: "identity.pem")
            }
            host.values["policy"] = try folder.write(policy.json(), to: "policy.json")
            if let policyOfBoth {
                host.valuesForSecondPin["policy"] = try folder.write(
                    policyOfBoth.json(), to: "policy-of-both-\(number).json")
            }
        } catch {
            throw .unusable("unwritable-file", "\(error)")
        }
        var pins = [("pin", pin), ("backup", backup), ("issuer", issuer)]
        if let other {
            host.values["other-host"] = other.host
            pins.append(("other-pin", other.pin))
        }
        for (name, pin) in pins {
            host.values["\(name)-base64"] = pin.base64
            host.values[name] = pin.curl
        }
        host.values["pins"] = pin.curl + ";" + backup.curl
    }

    /// Returns the line that removes roots from a device.
    ///
    /// - Parameter hours: The validity of the roots.
    static func removal(of roots: [String], hours: Int) -> String {
        let (them, they, ends) =
            roots.count == 1 ? ("it", "it", "ends by itself") : ("them", "they", "end by themselves")
        return
            "remove \(roots.map { "\"\($0)\"" }.joined(separator: " and ")) from every device that trusts \(them): "
            + "iOS: Settings > General > VPN & Device Management; Android: Settings > Security > Encryption & "
            + "credentials > User credentials; \(they) \(ends) \(hours) hours after this run began"
    }

    /// Returns the file that a device asks for, the roots to trust or the policy, or `nil` if there is none at the
    /// path.
    func file(_ request: HTTPRequest) -> HTTPResponse? {
        switch request.target.prefix(while: { $0 != "?" }) {
        case "/authorities.pem": Self.file("application/x-pem-file", Array(certificates.anchorsPEM.utf8))
        // Browsers of iOS and Android hand certificates of this type to the system.
        case "/authority.crt": Self.file("application/x-x509-ca-cert", certificates.authority.certificate.der)
        case "/interceptor.crt": Self.file("application/x-x509-ca-cert", certificates.otherAuthority.certificate.der)
        case "/policy.json": Self.file("application/json", policy.json())
        default: nil
        }
    }

    /// Returns a response that no cache keeps.
    static func file(_ type: String, _ bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: 200, reason: "OK",
            fields: [HTTPField("Content-Type", type), HTTPField("Cache-Control", "no-store")], body: bytes)
    }
}
