import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyTools
@testable import PintleText

@Suite("Histories of keys")
struct KeyHistoryTests {
    private let scene: HistoryFixture
    private let server: AuditServer

    init() throws {
        scene = try HistoryFixture()
        server = AuditServer(endpoint: try #require(ServerEndpoint("a.test:443")))
    }

    private func days(_ leaves: [(leaf: String, key: String, from: String)]) -> [String] {
        leaves.enumerated().map { index, one in
            HistoryFixture.result(
                "a.test", "2026-11-\(10 + index)", leaf: one.leaf, key: one.key, matched: one.key, from: one.from,
                until: "2026-12-30")
        }
    }

    @Test("Renewals that keep the key are told from renewals with a new one, and show their rhythm")
    func renewals() throws {
        let kept = try scene.read(
            days([
                ("1", "k", "2026-10-01"), ("1", "k", "2026-10-01"), ("2", "k", "2026-10-21"), ("3", "k", "2026-11-10"),
            ]))
        #expect(kept.renewals.map { $0.keeps(.leafKey) } == [true, true])
        #expect(kept.renewals.map { $0.keeps(.intermediates) } == [true, true])
        #expect(kept.renewals.map { $0.keeps(.root) } == [true, true])
        #expect(kept.renewalInterval == 1_728_000.0)
        #expect(kept.observations.last?.leafKey.description == HistoryFixture.key("k"))
        #expect(kept.observations.last?.leafCertificate.description == HistoryFixture.fingerprint("3"))
        #expect(kept.observations.last?.intermediates.map(\.description) == [HistoryFixture.key("M1")])
        #expect(kept.observations.last?.root?.description == HistoryFixture.key("R1"))

        let fresh = try scene.read(
            days([("1", "k", "2026-10-01"), ("2", "k", "2026-10-21"), ("3", "other", "2026-11-10")]))
        #expect(fresh.renewals.map { $0.keeps(.leafKey) } == [true, false])
        let again = try scene.read(
            days([("1", "k", "2026-10-01"), ("2", "n", "2026-10-21"), ("3", "n", "2026-11-10")]))
        #expect(again.renewals.map { $0.keeps(.leafKey) } == [false, true])
    }

    @Test("A renewal through another intermediate and root keeps neither; the same authorities with the same keys do")
    func authorities() throws {
        let first = HistoryFixture.result("a.test", "2026-11-10", leaf: "1", matched: "1")
        let moved = try scene.read([
            first, HistoryFixture.result("a.test", "2026-11-11", leaf: "2", through: "M2", root: "R2", matched: "2"),
        ])
        #expect(moved.renewals.map { $0.keeps(.intermediates) } == [false])
        #expect(moved.renewals.map { $0.keeps(.root) } == [false])
        let cross = try scene.read([
            first, HistoryFixture.result("a.test", "2026-11-11", leaf: "2", through: "M2", matched: "2"),
        ])
        #expect(cross.renewals.map { $0.keeps(.intermediates) } == [false])
        #expect(cross.renewals.map { $0.keeps(.root) } == [true])
    }

    @Test("A history without a renewal proves nothing about the next one")
    func nothing() throws {
        let one = try scene.read([HistoryFixture.result("a.test", "2026-11-10", leaf: "1", matched: "1")])
        #expect(one.renewals.isEmpty)
        #expect(one.renewalInterval == nil)
        let none = try scene.read([HistoryFixture.line("a.test", "2026-11-10", HistoryFixture.unreached)])
        #expect(none.observations.isEmpty && none.renewalInterval == nil)
    }

    @Test("A root that a result does not name is compared with the last known one")
    func unknownRoot() throws {
        func result(_ day: String, leaf: String, root: String?) -> String {
            let path =
                [HistoryFixture.certificate("leaf", leaf), HistoryFixture.certificate("1", "M1")]
                + (root.map { [HistoryFixture.certificate("root", $0)] } ?? [])
            return HistoryFixture.line(
                "a.test", day,
                #""decision":"trusted","reason":"host-not-pinned","certificates":[\#(path.joined(separator: ","))]"#)
        }
        let same = try scene.read([
            result("2026-11-10", leaf: "1", root: "R1"), result("2026-11-11", leaf: "2", root: nil),
            result("2026-11-12", leaf: "2", root: "R1"),
        ])
        #expect(same.changes.map(\.root) == [false])
        #expect(same.renewals.map { $0.keeps(.root) } == [nil])
        let other = try scene.read([
            result("2026-11-10", leaf: "1", root: "R1"), result("2026-11-11", leaf: "1", root: nil),
            result("2026-11-12", leaf: "1", root: "R2"),
        ])
        #expect(other.changes.map(\.root) == [true])
        #expect(other.changes.map(\.leafCertificate) == [false])
    }

    @Test("A pool of servers goes back to earlier certificates, which are no renewals")
    func pool() throws {
        let history = try scene.read(
            days([
                ("1", "a", "2026-10-01"), ("2", "b", "2026-10-01"), ("1", "a", "2026-10-01"), ("2", "b", "2026-10-01"),
            ]))
        #expect(history.changes.map(\.isReturn) == [false, true, true])
        #expect(history.renewals.count == 1)
        #expect(history.showsSeveralLeaves)
        #expect(history.renewalInterval == nil)
    }

    // MARK: Reading

    @Test("A result without a path says nothing; a change is found between the observations around it")
    func gaps() throws {
        for gap in [HistoryFixture.unreached, HistoryFixture.expired, #""decision":"trusted","reason":"pin-matched""#] {
            let first = HistoryFixture.result("a.test", "2026-11-10", leaf: "1", matched: "1")
            let between = HistoryFixture.line("a.test", "2026-11-11", gap)
            let same = try scene.read([
                first, between, HistoryFixture.result("a.test", "2026-11-12", leaf: "1", matched: "1"),
            ])
            #expect(same.changes.isEmpty)
            #expect(same.observations.count == 2)
            let other = try scene.read([
                first, between, HistoryFixture.result("a.test", "2026-11-12", leaf: "2", matched: "2"),
            ])
            #expect(other.changes.count == 1)
            #expect(other.changes.first.map { ValidityText.day($0.before.instant) } == "2026-11-10")
            #expect(other.changes.first.map { ValidityText.day($0.after.instant) } == "2026-11-12")
        }
    }

    @Test("Two results of one instant that differ do not count; the same result twice is one observation")
    func sameInstant() throws {
        let one = HistoryFixture.result("a.test", "2026-11-10", leaf: "1", matched: "1")
        let other = HistoryFixture.result("a.test", "2026-11-10", leaf: "2", matched: "2")
        let later = HistoryFixture.result("a.test", "2026-11-11", leaf: "2", matched: "2")
        for lines in [[one, other, later], [other, later, one]] {
            let history = try scene.read(lines)
            #expect(history.observations.count == 1 && history.changes.isEmpty)
        }
        let twice = try scene.read([one, one, later])
        #expect(twice.observations.count == 2 && twice.changes.count == 1)
        // The server was reached at that instant, so the error of another process concludes nothing.
        let reached = try scene.read([HistoryFixture.line("a.test", "2026-11-10", HistoryFixture.unreached), one])
        #expect(reached.observations.count == 1)
    }

    @Test("A clock that goes backwards is a warning, and results are ordered by their time")
    func backwards() throws {
        let lines = [
            HistoryFixture.result("a.test", "2026-11-11", leaf: "2", matched: "2"),
            HistoryFixture.result("b.test", "2026-11-10", leaf: "1", matched: "1"),
            HistoryFixture.result("a.test", "2026-11-10", leaf: "1", matched: "1"),
        ]
        let file = try scene.write(lines)
        var warnings: [String] = []
        let histories = try KeyHistory.read([file]) { warnings.append($0) }
        #expect(
            warnings == [
                "\(file):3: a.test:443 was asked earlier than a line before says: results are ordered by their time"
            ])
        #expect(histories[server]?.changes.first?.after.leafCertificate.description == HistoryFixture.fingerprint("2"))
        warnings = []
        // Separate files may be named in any order.
        let files = try [lines[0], lines[1] + lines[2]].enumerated().map { try scene.write([$1], to: "\($0)") }
        _ = try KeyHistory.read(files) { warnings.append($0) }
        #expect(warnings.isEmpty)
    }

    @Test("A last line that was cut off is a warning; other bytes are an error with their place")
    func torn() throws {
        let whole = HistoryFixture.result("a.test", "2026-11-10", leaf: "1", matched: "1")
        let file = try scene.write([whole, String(whole.prefix(40))])
        var warnings: [String] = []
        #expect(try KeyHistory.read([file]) { warnings.append($0) }[server]?.observations.count == 1)
        #expect(warnings == ["\(file): the last line was cut off and does not count"])
        let bad = try scene.write([whole, "x"])
        let error = #expect(throws: ToolError.self) { try KeyHistory.read([bad]) }
        #expect(error?.code == "malformed-results" && error?.line == 2)
    }

    @Test("Certificates that no audit writes are errors with their place, and a plain report does not read them")
    func malformed() throws {
        let good = HistoryFixture.certificate("leaf", "1")
        let root = HistoryFixture.certificate("root", "R1")
        let wrong: [(String, String)] = [
            ("[\(root),\(good)]", "its path is not in order at certificate 0"),
            ("[\(good),\(good)]", "its path is not in order at certificate 1"),
            ("[\(good),\(root),\(root)]", "its path is not in order at certificate 2"),
            ("[\(good.replacing("sha256/", with: "sha1/"))]", "a certificate on its path has no pins"),
            ("[\(good.replacing("certificateSHA256", with: "x"))]", "a certificate on its path has no pins"),
            ("[\(good.replacing("T00:00:00Z", with: ""))]", "notBefore is not a date"),
            ("[\(good.replacing("notAfter", with: "x"))]", "a certificate on its path has no dates"),
            (
                "[" + Array(repeating: "{}", count: 17).joined(separator: ",") + "]",
                "certificates is not a list of at most 16"
            ),
            ("{}", "certificates is not a list of at most 16"),
        ]
        func line(_ list: String) -> String {
            HistoryFixture.line(
                "a.test", "2026-11-10", #""decision":"trusted","reason":"host-not-pinned","certificates":\#(list)"#)
        }
        for (list, message) in wrong {
            let file = try scene.write([line("[\(good)]"), line(list)])
            let error = #expect(throws: ToolError.self) { try KeyHistory.read([file]) }
            #expect(error?.code == "malformed-results" && error?.line == 2)
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
            #expect(ToolRun("report", file).code == 0)
        }
        for list in [
            "[]", "[\(good)]", "[\(good),\(root)]",
            "[" + Array(repeating: "{}", count: 16).joined(separator: ",") + "]",
        ] {
            #expect(throws: Never.self) { try KeyHistory.read([try scene.write([line(list)])]) }
        }
    }

    @Test("One certificate with two keys is an error; the same result twice is not")
    func contradictions() throws {
        let first = HistoryFixture.result("a.test", "2026-11-10", leaf: "1", matched: "1")
        let second = HistoryFixture.result("a.test", "2026-11-11", leaf: "1", key: "2", matched: "2")
        let error = #expect(throws: ToolError.self) { try KeyHistory.read([try scene.write([first, second])]) }
        #expect(error?.code == "malformed-results" && error?.line == 2)
        #expect(error?.message.contains("had another key or other dates in a result before") == true)
        #expect(throws: Never.self) { try KeyHistory.read([try scene.write([first, first])]) }
    }

    @Test("A history holds as many servers, results and certificates as its limits say, and no more")
    func limits() throws {
        let lines = ["a.test", "b.test", "c.test"].map {
            HistoryFixture.result($0, "2026-11-10", leaf: $0, matched: $0)
        }
        let file = try scene.write(lines)
        // Three leaves, and an intermediate and a root that they share.
        let exact = HistoryLimits(servers: 3, results: 3, certificates: 5)
        #expect(try KeyHistory.read([file], limits: exact).count == 3)
        var limits = [exact, exact, exact]
        limits[0].servers = 2
        limits[1].results = 2
        limits[2].certificates = 4
        for (limit, words) in zip(limits, ["2 servers", "2 results", "4 certificates"]) {
            let error = #expect(throws: ToolError.self) { try KeyHistory.read([file], limits: limit) }
            #expect(error?.code == "too-many-results" && error?.line == 3)
            #expect(error?.message == "a history holds at most \(words)")
        }
    }

    @Test("The results of a real audit are read as its server's certificates")
    func real() throws {
        let audit = try AuditFixture()
        let server = try LoopbackTLSServer(audit.identity)
        let results = audit.directory.path(of: "results.ndjson")
        let list = try audit.list([("h0.audit.test", server.port)])
        #expect(audit.audit(try audit.policy(), "--hosts", list, "-o", results).code == 0)
        let history = try #require(try KeyHistory.read([results]).values.first)
        #expect(history.server.description == "h0.audit.test:443 at 127.0.0.1:\(server.port)")
        let seen = try #require(history.observations.first)
        #expect(try seen.leafKey.description == audit.pin(audit.identity.certificate))
        #expect(seen.leafCertificate == CertificatePin(certificate: audit.identity.certificate.der))
        #expect(seen.intermediates.isEmpty)
        #expect(try seen.root?.description == audit.pin(audit.root.certificate))
    }
}
