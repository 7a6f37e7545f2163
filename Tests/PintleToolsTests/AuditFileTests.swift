import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleTools

/// What an audit keeps, and goes on from.
@Suite("Results of audits")
struct AuditFileTests {
    private let scene: AuditScene
    private let server: LoopbackTLSServer
    private let policy: String
    private let list: String

    init() throws {
        scene = try AuditScene()
        server = try LoopbackTLSServer(scene.identity)
        policy = try scene.policy()
        let port = server.port
        list = try scene.list((0..<6).map { ("h\($0).audit.test", port) })
    }

    private var results: String { scene.directory.path(of: "results.ndjson") }

    private func audit(_ more: String...) -> ToolRun {
        ToolRun(
            arguments: ["audit", policy, "--hosts", list, "-o", results, "--anchors", scene.anchors] + more,
            environment: ["LANG": "C.UTF-8", "SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere"])
    }

    private func hosts() throws -> [String] {
        try scene.read("results.ndjson").split(separator: "\n").map { line in
            try #require(try JSONDocument(Array(line.utf8)).root["host"]?.string)
        }
    }

    @Test("An audit that goes on asks only those without a result, and a line that was cut off is asked again")
    func resume() throws {
        #expect(audit().code == 0)
        #expect(server.waitUntilClosed(connections: 6))
        let whole = try scene.read("results.ndjson")
        #expect(try Set(hosts()).count == 6)
        let lines = whole.split(separator: "\n").map(String.init)
        // Killed in the middle of the fourth line.
        try scene.directory.write(
            lines.prefix(3).joined(separator: "\n") + "\n" + lines[3].prefix(40), to: "results.ndjson")
        let run = audit("--resume")
        #expect(run.code == 0)
        #expect(run.errors.contains("3 results from before; 3 servers left to ask"))
        #expect(run.output.contains("6 servers: 6 trusted"))
        #expect(try hosts().sorted() == (0..<6).map { "h\($0).audit.test" })
        #expect(try scene.read("results.ndjson").hasPrefix(lines.prefix(3).joined(separator: "\n") + "\n"))
        #expect(server.waitUntilClosed(connections: 9))
        // Nobody is left, and nobody is asked.
        #expect(audit("--resume").code == 0)
        #expect(server.connectionCount == 9)
    }

    @Test("A whole last line without its break is asked again, for it may be half a number")
    func unbroken() throws {
        #expect(audit().code == 0)
        var whole = try scene.read("results.ndjson")
        whole.removeLast()
        try scene.directory.write(whole, to: "results.ndjson")
        #expect(audit("--resume").errors.contains("5 results from before; 1 server left to ask"))
        #expect(try hosts().count == 6)
    }

    @Test("Results are not overwritten, not mixed with those of another policy, and not written by two at a time")
    func guarded() throws {
        #expect(audit("--resume").code == 0)
        let before = try scene.read("results.ndjson")
        let again = audit()
        #expect(again.code == 2)
        #expect(again.errors.contains("--resume goes on with them"))
        _ = try scene.policy(more: ", \"enforcement\": \"reportOnly\"")
        let other = audit("--resume")
        #expect(other.code == 2)
        #expect(other.errors.contains("results.ndjson:1: h"))
        #expect(other.errors.contains("was decided by another policy"))
        #expect(try scene.read("results.ndjson") == before)
        _ = try scene.policy()
        let descriptor = open(results, O_RDWR)
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        #expect(audit("--resume").errors.contains("another audit writes to it"))
        flock(descriptor, LOCK_UN)
        close(descriptor)
        #expect(audit("--resume").code == 0)
    }

    @Test("What is no result is an error with its line, wherever results are read")
    func malformed() throws {
        #expect(audit().code == 0)
        let good = try scene.read("results.ndjson")
        for line in ["{}", "[]", "x", "{\"host\": \"a.test\", \"port\": 443}", "{\"host\": \"a b\", \"port\": 443}"] {
            try scene.directory.write(line + "\n" + good, to: "results.ndjson")
            for run in [audit("--resume"), ToolRun("audit", "--from", results)] {
                #expect(run.code == 2)
                #expect(run.errors.contains("results.ndjson:1: this is no result of an audit"), "\(run.errors)")
            }
        }
        try scene.directory.write(good, to: "results.ndjson")
        #expect(audit("--resume").code == 0)
    }

    @Test("Parts from several machines make one report, each server once")
    func parts() throws {
        let files = (1...3).map { scene.directory.path(of: "\($0).ndjson") }
        for (index, file) in files.enumerated() {
            let run = scene.audit(policy, "--hosts", list, "--shard", "\(index + 1)/3", "-o", file)
            #expect(run.code == 0)
        }
        let whole = ToolRun(
            "audit", "--from", files[0], "--from", files[1], "--from", files[2], "--from", files[1], "--json")
        #expect(whole.code == 0)
        #expect(try whole.json()["servers"]?.integer == 6)
        #expect(try whole.json()["reasons"]?["pin-matched"]?.integer == 6)
        try scene.directory.write(scene.read("1.ndjson") + "{\"host\": \"cut", to: "1.ndjson")
        let cut = ToolRun("audit", "--from", files[0])
        #expect(cut.code == 0)
        #expect(cut.errors.contains("the last line was cut off and does not count"))
        #expect(ToolRun("audit", "--from", scene.directory.path(of: "none.ndjson")).code == 2)
    }

    @Test("An audit whose time is up says what is left, and the next one asks it")
    func timeLimit() throws {
        let silent = try LoopbackTCPServer { $0.stall(seconds: 60) }
        let port = server.port
        let list = try scene.list(
            [("s.audit.test", silent.port)] + (0..<3).map { ("t\($0).audit.test", port) }, name: "s.txt")
        let late = scene.audit(
            policy, "--hosts", list, "-o", results, "--time-limit", "1", "--handshake-timeout", "3600")
        #expect(late.code == 2)
        #expect(late.errors.contains("warning: not asked: ") && late.errors.contains("; the time is up"))
        #expect(late.errors.contains("to go on: pintle audit "))
        #expect(try !hosts().contains("s.audit.test"))
        let rest = scene.audit(policy, "--hosts", list, "-o", results, "--resume", "--handshake-timeout", "0.2")
        #expect(rest.code == 3)
        #expect(rest.output.contains("NOT REACHED  handshake-timeout"))
        #expect(try hosts().sorted() == ["s.audit.test", "t0.audit.test", "t1.audit.test", "t2.audit.test"])
    }

    @Test("Progress is for terminals, and leaves nothing behind")
    func progress() throws {
        let silent = try LoopbackTCPServer { $0.stall(seconds: 60) }
        let list = try scene.list([("s.audit.test", silent.port)], name: "s.txt")
        let arguments = ["audit", policy, "--hosts", list, "--anchors", scene.anchors, "--handshake-timeout", "1"]
        let piped = ToolRun(arguments: arguments)
        #expect(!piped.errors.contains("["))
        let shown = ToolRun(arguments: arguments, environment: [:], terminalWidth: 80)
        #expect(shown.errors.contains("\r\u{1B}[K[....................]  0/1   0 rejected, 0 not reached"))
        #expect(shown.errors.hasSuffix("\r\u{1B}[K"))
        let dumb = ToolRun(arguments: arguments, environment: ["TERM": "dumb"], terminalWidth: 80)
        #expect(!dumb.errors.contains("\u{1B}"))
        #expect(
            AuditProgress.line(AuditTally(), total: 0, before: 0, after: .zero)
                == "[####################]  0/0   0 rejected, 0 not reached")
    }
}
