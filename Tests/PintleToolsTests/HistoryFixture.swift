import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyTools

/// Result files of several days, with certificates that are named and not minted.
struct HistoryFixture {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Returns the pin of the key with this name.
    static func key(_ name: String) -> String {
        "sha256/" + Base64.encode(CertificatePin(certificate: Array("key \(name)".utf8)).bytes)
    }

    /// Returns the fingerprint of the certificate with this name.
    static func fingerprint(_ name: String) -> String {
        CertificatePin(certificate: Array("certificate \(name)".utf8)).description
    }

    static func certificate(
        _ position: String, _ name: String, key: String? = nil, from: String = "2026-10-01",
        until: String = "2026-12-30",
        subject: String? = nil
    ) -> String {
        """
        {"position":"\(position)","subject":"\(subject ?? "CN=\(name)")","issuer":"CN=Issuer of \(name)",\
        "spkiPin":"\(Self.key(key ?? name))","certificateSHA256":"\(fingerprint(name))",\
        "notBefore":"\(from)T00:00:00Z","notAfter":"\(until)T00:00:00Z","sent":true,"onPath":true}
        """
    }

    /// Returns the line of a result with a path of a leaf, an intermediate and a root.
    ///
    /// - Parameters:
    ///   - day: a day, or an instant.
    ///   - leaf: the name of the leaf certificate; its key has this name too, unless `key` names another.
    ///   - matched: the name of the key that matched; `nil` for `pin-mismatch`.
    static func result(
        _ host: String, _ day: String, leaf: String, key: String? = nil, through middle: String = "M1",
        root: String = "R1", matched: String?, from: String = "2026-10-01", until: String = "2026-12-30",
        policy: String = "aa"
    ) -> String {
        let path = [
            certificate("leaf", leaf, key: key, from: from, until: until), certificate("1", middle),
            certificate("root", root),
        ]
        let verdict =
            matched.map {
                """
                "decision":"trusted","reason":"pin-matched","matchedPin":"\(Self.key($0))","rule":"\(host)"
                """
            } ?? #""decision":"rejected","reason":"pin-mismatch""#
        return line(host, day, "\(verdict),\"certificates\":[\(path.joined(separator: ","))]", policy: policy)
    }

    /// Returns a line with these members.
    static func line(_ host: String, _ day: String, _ members: String, policy: String = "aa") -> String {
        let instant = day.contains("T") ? day : "\(day)T06:00:00Z"
        return "{\"host\":\"\(host)\",\"port\":443,\"at\":\"\(instant)\",\(members),\"policy\":\"\(policy)\"}\n"
    }

    static let unreached = #""error":{"code":"connect-timeout","message":"late"}"#
    static let expired = #""decision":"rejected","reason":"invalid-path","pathFailure":"expired","certificates":[]"#

    func write(_ lines: [String], to name: String = "results.ndjson") throws -> String {
        try directory.write(lines.joined(), to: name)
    }

    func read(_ lines: [String], limits: HistoryLimits = HistoryLimits()) throws -> KeyHistory {
        let histories = try KeyHistory.read([try write(lines)], limits: limits)
        #expect(histories.count == 1)
        return try #require(histories.values.first)
    }
}
