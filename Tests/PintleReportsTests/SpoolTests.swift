import FoundationEssentials
import Glibc
import PintleStorage
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintleReports

@Suite("The spool of reports")
struct SpoolTests {
    private let scene: ReportScene
    private let now = ReportScene.now

    init() throws {
        scene = try ReportScene()
    }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt32(status.st_mode) & 0o7777 : 0
    }

    private func files() throws -> [String] {
        try runProcess(["ls", "-A", scene.folder]).output.split(separator: "\n").map(String.init)
    }

    @Test("The spool is private to its owner, and a folder writable by others is refused")
    func modes() throws {
        let reporter = try scene.reporter()
        #expect(reporter.record(try scene.failure()) == .kept)
        #expect(mode(scene.folder) == 0o700)
        for file in try files() { #expect(mode("\(scene.folder)/\(file)") == 0o600, "\(file)") }
        // A folder that is readable by others gets mode 0700.
        chmod(scene.folder, 0o755)
        _ = try scene.reporter()
        #expect(mode(scene.folder) == 0o700)
        chmod(scene.folder, 0o777)
        let error = #expect(throws: StorageError.self) { try scene.reporter() }
        #expect(error?.code == .writableByOthers)
        chmod(scene.folder, 0o700)
        symlink(scene.folder, scene.directory.path(of: "link"))
        #expect(throws: StorageError.self) { try ReportSpool(folder: scene.directory.path(of: "link")) }
        #expect(throws: StorageError.self) { try ReportSpool(folder: scene.directory.path(of: "no/such")) }
    }

    @Test("Failures of equal host, port, rule, reason and generation are reported once in 24 hours")
    func duplicates() throws {
        let policy = try scene.policy()
        let reporter = try scene.reporter()
        func record(_ reporter: PinReporter, _ failure: VerdictEvent) -> ReportSpool.Outcome? {
            reporter.record(failure)
        }
        #expect(record(reporter, try scene.failure(by: policy)) == .kept)
        #expect(record(reporter, try scene.failure(by: policy)) == .duplicate)
        // Another process learns of the report only from the disk.
        let second = try scene.reporter()
        #expect(record(second, try scene.failure(by: policy)) == .duplicate)
        // The certificates of a server are not part of the key.
        let shown = try scene.failure(by: policy, extra: [scene.authority.certificate.der])
        #expect(record(second, shown) == .duplicate)
        #expect(
            record(second, try scene.failure(by: policy, at: ReportScene.now.addingTimeInterval(86_399))) == .duplicate)
        #expect(record(second, try scene.failure("a.example.com", by: policy)) == .kept)
        #expect(record(second, try scene.failure(port: 444, by: policy)) == .kept)
        #expect(record(second, try scene.failure(by: policy, generation: 2)) == .kept)
        #expect(record(second, try scene.failure(by: scene.policy(enforcement: .reportOnly))) == .kept)
        #expect(record(second, try scene.failure(by: policy, at: ReportScene.now.addingTimeInterval(86_400))) == .kept)
        #expect(record(second, try scene.failure(by: policy, at: ReportScene.now.addingTimeInterval(-90_000))) == .kept)
        #expect(second.waiting == 7 && second.counts.duplicates == 3 && reporter.counts.duplicates == 1)
    }

    @Test("A spool keeps at most 8 reports for a host and 256 in all, and counts the dropped ones")
    func limits() throws {
        let reporter = try scene.reporter()
        let policy = try scene.policy()
        for port in 1...9 {
            let outcome = reporter.record(try scene.failure("a.example.com", port: UInt16(port), by: policy))
            #expect(outcome == (port <= 8 ? .kept : .hostIsFull))
        }
        #expect(reporter.record(try scene.failure("b.example.com", by: policy)) == .kept)
        for number in 9..<256 {
            try #require(reporter.record(try scene.failure("h\(number).example.com", by: policy)) == .kept)
        }
        #expect(reporter.record(try scene.failure("c.example.com", by: policy)) == .isFull)
        #expect(reporter.waiting == 256 && reporter.counts.droppedForHost == 1 && reporter.counts.dropped == 1)
    }

    @Test("A rule without addresses, an install outside of the sample, and a redacted report leave no file")
    func nothing() throws {
        let none = try scene.reporter()
        #expect(none.record(try scene.failure(by: scene.policy(to: []))) == nil)
        let unsampled = try scene.reporter { $0.sampling = 0 }
        #expect(unsampled.record(try scene.failure()) == nil)
        let redacted = try scene.reporter { $0.redact = { _ in nil } }
        #expect(redacted.record(try scene.failure()) == nil)
        #expect(try files() == ["state.json", "state.json.lock"])
        // With a sample of one half, an install always decides the same.
        let half = try scene.reporter { $0.sampling = 0.5 }
        let isSampled = half.record(try scene.failure()) != nil
        for _ in 0..<5 {
            #expect((try scene.reporter { $0.sampling = 0.5 }.record(try scene.failure()) != nil) == isSampled)
        }
        #expect(try scene.reporter { $0.sampling = 1 }.record(try scene.failure(port: 9)) == .kept)
    }

    @Test("Redacted text never reaches the disk")
    func redaction() throws {
        let reporter = try scene.reporter {
            $0.redact = { report in
                var report = report
                report.hostname = "(hidden)"
                report.servedCertificateChain = []
                return report
            }
        }
        #expect(reporter.record(try scene.failure("secret.example.com")) == .kept)
        let name = try #require(try files().first { $0.hasSuffix(".report") })
        let text = String(decoding: try scene.directory.read("reports/\(name)"), as: UTF8.self)
        #expect(!text.contains("secret") && !name.contains("secret") && text.contains("(hidden)"))
    }

    @Test("Malformed files do not stop the spool")
    func broken() async throws {
        let collector = ScriptedCollector()
        #expect(try scene.reporter().record(try scene.failure()) == .kept)
        let name = try #require(try files().first { $0.hasSuffix(".report") })
        try scene.directory.write("{", to: "reports/\(name)")
        try scene.directory.write("[]", to: "reports/state.json")
        try scene.directory.write("x", to: "reports/other.report")
        try scene.directory.write("x", to: "reports/\(name).new")
        mkdir("\(scene.folder)/\(name.replacing("0", with: "1"))", 0o700)
        let reporter = try scene.reporter(collector)
        #expect(await reporter.deliver(at: ReportScene.now) == .done(delivered: 0, failed: 0))
        #expect(reporter.counts.lost == 1 && collector.requests.isEmpty)
        #expect(reporter.record(try scene.failure()) == .kept)
        #expect(try !files().contains("\(name).new"))
        #expect(await reporter.deliver(at: ReportScene.now) == .done(delivered: 1, failed: 0))
    }

    @Test(
        "A report writable by others is lost, and one readable by others is sent",
        arguments: [0o666, 0o644])
    func tampered(mode: UInt32) async throws {
        let reporter = try scene.reporter()
        #expect(reporter.record(try scene.failure()) == .kept)
        let name = try #require(try files().first { $0.hasSuffix(".report") })
        chmod("\(scene.folder)/\(name)", mode)
        let isLost = mode == 0o666
        #expect(await reporter.deliver(at: now) == .done(delivered: isLost ? 0 : 1, failed: 0))
        #expect(reporter.waiting == 0 && reporter.counts.lost == (isLost ? 1 : 0))
    }

    @Test("A malformed state is replaced, and an unreadable one is an error and stays")
    func unreadableState() throws {
        let path = "\(scene.folder)/state.json"
        _ = try scene.reporter()
        try scene.directory.write("[]", to: "reports/state.json")
        chmod(path, 0o600)
        _ = try scene.reporter()
        #expect(SpoolState(json: try scene.directory.read("reports/state.json")) != nil)
        chmod(path, 0o666)
        let error = #expect(throws: StorageError.self) { try scene.reporter() }
        #expect(error?.code == .writableByOthers && mode(path) == 0o666)
    }

    @Test("A written name is parsed, and no other text is")
    func names() throws {
        let policy = try scene.policy()
        let failure = try scene.failure(by: policy)
        let name = SpoolName(
            failure, try #require(failure.rule), notBefore: Milliseconds(ReportScene.now.addingTimeInterval(9)))
        #expect(SpoolName(name.text) == name && name.notBefore.count - name.createdAt.count == 9_000)
        for text in [
            "", ".report", "a.report", name.text + "x", String(name.text.dropFirst()), "x" + name.text.dropFirst(),
            name.text.replacing("18000000", with: "-8000000"), name.text.replacing("18000000", with: "99918000000000"),
            name.text.uppercased(),
        ] { #expect(SpoolName(text) == nil, "\(text)") }
    }

    @Test("A written state is parsed, and no other text is")
    func state() throws {
        var state = SpoolState(draw: 0.25)
        let key = String(repeating: "ab", count: 16)
        state.seen[key] = Milliseconds(ReportScene.now)
        state.addresses["https://a.example/"] = .init(
            failures: 3, askedAt: Milliseconds(ReportScene.now), notBefore: Milliseconds(ReportScene.now), isGone: true)
        state.finished[key] = [0, 2]
        state.counts.delivered = 4
        #expect(SpoolState(json: state.json) == state)
        let text = String(decoding: state.json, as: UTF8.self)
        for (old, new) in [
            ("250000", "1000000"), (key, "x"), ("\"failures\": 3", "\"failures\": -1"), ("true", "1"),
            ("1800000000000", "-1"), ("\"seen\"", "\"sean\""), ("[", "{"),
        ] { #expect(SpoolState(json: Array(text.replacing(old, with: new).utf8)) == nil, "\(old)") }
        // The state does not grow without end.
        for number in 0..<2_000 {
            state.seen["\(number)"] = Milliseconds(ReportScene.now.addingTimeInterval(Double(number)))
            state.addresses["\(number)"] = .init(
                askedAt: Milliseconds(ReportScene.now.addingTimeInterval(Double(number))),
                notBefore: Milliseconds(.distantPast))
        }
        // If the content of the spool is unknown, no record is removed that prevents a second sending.
        state.prune(at: Milliseconds(ReportScene.now), spooled: nil)
        #expect(state.finished == [key: [0, 2]])
        state.prune(at: Milliseconds(ReportScene.now), spooled: [])
        #expect(state.seen.count == 1_024 && state.addresses.count == 64 && state.finished.isEmpty)
        #expect(state.seen["1999"] != nil && state.seen["0"] == nil)
        // The largest possible state can be read again.
        for number in 0..<64 {
            let url = "https://a.example/\(number)" + String(repeating: "x", count: 8_100)
            state.addresses[url] = .init(
                askedAt: Milliseconds(.distantFuture), notBefore: Milliseconds(.distantFuture))
        }
        state.seen = [:]
        for _ in 0..<1_024 {
            state.seen[Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255) })] = Milliseconds(now)
        }
        state.finished = [key: Set(0..<16)]
        state.prune(at: Milliseconds(now), spooled: [key])
        #expect(state.json.count <= SpoolState.maximumBytes && SpoolState(json: state.json) == state)
    }
}
