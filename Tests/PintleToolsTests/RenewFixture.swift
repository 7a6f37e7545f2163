import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

/// A policy, a server with minted certificates, and runs of `pintle renew`.
struct RenewFixture {
    let directory: TemporaryDirectory
    let root: PintleTestKit.CertificateAuthority
    let anchors: String

    static let strange = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    static let spare = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="

    init() throws {
        directory = try TemporaryDirectory()
        root = try CertificateAuthority.root(name: "Root")
        anchors = try directory.write(root.certificate.pem, to: "root.pem")
    }

    /// Returns an identity whose certificate began and ends so many days from now.
    func identity(from start: Int = -40, to end: Int = 50, key: PintleTestKit.PrivateKey? = nil) throws -> Identity {
        let change: (inout CertificateTemplate) -> Void = {
            $0.notBefore = .fromNow(days: start)
            $0.notAfter = .fromNow(days: end)
        }
        guard let key else { return try root.issue(hosts: ["example.test"], configure: change) }
        return try root.issue(hosts: ["example.test"], key: key, configure: change)
    }

    func pin(_ certificate: MintedCertificate) throws -> String {
        try PublicKeyPin(subjectPublicKeyInfo: certificate.spkiDER).description
    }

    func pin(_ key: PintleTestKit.PrivateKey) throws -> String {
        try PublicKeyPin(subjectPublicKeyInfo: key.spkiDER).description
    }

    /// - Parameters:
    ///   - more: members of the rule, with a comma before them.
    ///   - members: members of the policy, with a comma behind them.
    func policy(
        _ pins: [String], backups: [String] = [Self.spare], more: String = "", members: String = "\"updateVersion\": 7,"
    ) throws -> String {
        let lists = [pins, backups].map { list in
            list.map { $0.hasPrefix("{") ? $0 : "\"\($0)\"" }.joined(separator: ",\n        ")
        }
        return try directory.write(
            """
            { "version": 1,  \(members)
              "hosts": [
                { "host": "example.test",
                  "pins": [\(lists[0])],
                  "backupPins": [
                    \(lists[1])
                  ]\(more) }
              ]
            }
            """, to: "policy.json")
    }

    func renew(
        _ policy: String, _ server: LoopbackTLSServer, now: Date = Date(), anchors: String? = nil, _ options: String...
    ) -> ToolRun {
        ToolRun(
            arguments: [
                "renew", policy, "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors ?? self.anchors,
            ] + options,
            environment: ["LANG": "C.UTF-8", "SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere"], now: now)
    }

    /// Returns a pin with a note as a proposal has it.
    func noted(_ pin: String, _ note: String) -> String { #"{"spki":"\#(pin)","note":"\#(note)"}"# }

    var next: String { directory.path(of: "next.json") }

    func text(_ name: String) throws -> String { String(decoding: try directory.read(name), as: UTF8.self) }

    /// Returns the changes of a JSON document, such as `add backupPins sha256/...`.
    func changes(_ run: ToolRun) throws -> [String] {
        try run.json()["changes"]?.elements?.map { change in
            [change["action"]?.string, change["list"]?.string, change["pin"]?.string].compactMap(\.self)
                .joined(separator: " ")
        } ?? []
    }

    func findings(_ run: ToolRun) throws -> [String] {
        try run.json()["findings"]?.elements?.map { finding in
            [finding["id"]?.string, finding["host"]?.string, finding["reason"]?.string].compactMap(\.self)
                .joined(separator: " ")
        } ?? []
    }
}
