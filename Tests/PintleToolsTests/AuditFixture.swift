import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleTools

/// Servers on loopback, a list of names that lead to them, and a policy for `audit.test` and what is below it.
struct AuditFixture {
    static let spare = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="

    let directory: TemporaryDirectory
    let root: PintleTestKit.CertificateAuthority
    /// For `audit.test` and `*.audit.test`.
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

    /// A key that is not pinned, in a certificate that is good otherwise.
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

    /// A list of `name` and the port on loopback that it leads to.
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

    /// The lines of NDJSON by the host that they are about.
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

    /// `trusted pin-matched`, `rejected invalid-path expired`, `connection-refused`
    static func verdict(_ record: JSONValue?) -> String {
        if let code = record?["error"]?["code"]?.string { return code }
        return [record?["decision"], record?["reason"], record?["pathFailure"]].compactMap { $0?.string }
            .joined(separator: " ")
    }

    func read(_ name: String) throws -> String { String(decoding: try directory.read(name), as: UTF8.self) }
}
