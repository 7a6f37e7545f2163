import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

/// Servers on loopback, a list of names that lead to them, and a policy for `audit.test` and its subdomains.
struct AuditFixture {
    static let spare = "sha256/iQhb885ViYmzwhaN8HXndRaUrXpOBHfKAvqhDM3XTDI="

    let directory: TemporaryDirectory
    let root: PintleTestKit.CertificateAuthority
    /// The certificate for `audit.test` and `*.audit.test`.
    let identity: Identity
    let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        root = try CertificateAuthority.root(name: "Root")
        identity = try root.issue(hosts: ["audit.test", "*.audit.test"]) { $0.notAfter = .fromNow(days: 90) }
        anchors = try directory.write(root.certificate.pem, to: "root.pem")
    }

    func pin(_ certificate: MintedCertificate) throws -> String {
        try PublicKeyPin(subjectPublicKeyInfo: certificate.spkiDER).description
    }

    /// Returns a certificate that is valid but has a key that is not pinned.
    func stranger(days: Int = 90) throws -> Identity {
        try root.issue(hosts: ["audit.test", "*.audit.test"]) { $0.notAfter = .fromNow(days: days) }
    }

    func policy(backup: String = spare, more: String = "", name: String = "policy.json") throws -> String {
        try directory.write(
            """
            {"version": 1, "hosts": [{"host": "audit.test", "includeSubdomains": true,
             "pins": ["\(try pin(identity.certificate))"],
             "backupPins": ["\(backup)"]\(more)}]}
            """, to: name)
    }

    /// Writes a host list with each name and the loopback port that it leads to.
    func list(_ servers: [(name: String, port: UInt16)], name: String = "hosts.txt") throws -> String {
        try directory.write(servers.map { "\($0.name)  127.0.0.1:\($0.port)\n" }.joined(), to: name)
    }

    func audit(
        _ arguments: String..., environment: [String: String] = [:], now: Date = Date(), terminalWidth: Int? = nil
    ) -> ToolRun {
        ToolRun(
            arguments: ["audit"] + arguments + ["--anchors", anchors],
            environment: ["LANG": "C.UTF-8", "SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere"].merging(
                environment
            ) { $1 }, now: now, terminalWidth: terminalWidth)
    }

    /// Returns the results by host, parsed from lines of NDJSON.
    static func records(_ text: String) throws -> [String: JSONValue] {
        var records: [String: JSONValue] = [:]
        for line in text.split(separator: "\n") {
            let root = try JSONDocument(Array(line.utf8)).root
            let host = try #require(root["host"]?.string)
            #expect(records[host] == nil, "\(host) stands there twice")
            records[host] = root
        }
        return records
    }

    /// Returns a verdict such as `trusted pin-matched`, `rejected invalid-path expired` or `connection-refused`.
    static func verdict(_ record: JSONValue?) -> String {
        if let code = record?["error"]?["code"]?.string { return code }
        return [record?["decision"], record?["reason"], record?["pathFailure"]].compactMap { $0?.string }
            .joined(separator: " ")
    }

    func read(_ name: String) throws -> String { String(decoding: try directory.read(name), as: UTF8.self) }
}
