import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintleTools

/// The results file of an audit, and resuming from it.
@Suite("Results of audits")
struct AuditFileTests {
    private let scene: AuditFixture
    private let server: LoopbackTLSServer
    private let policy: String
    private let list: String

    init() throws {
        scene = try AuditFixture()
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

    @Test("A resumed audit asks the servers without a result, and the server of a line that was cut off")
    func resume() throws {
        #expect(audit().code == 0)
        #expect(server.waitUntilClosed(connections: 6))
        let whole = try scene.read("results.ndjson")
        #expect(try Set(hosts()).count == 6)
        let lines = whole.split(separator: "\n").map(String.init)
        // As if the audit was killed in the middle of the fourth line.
        try scene.directory.write(
            lines.prefix(3).joined(separator: "\n") + "\n" + lines[3].prefix(40), to: "results.ndjson")
        let run = audit("--resume")
        #expect(run.code == 0)
        #expect(run.errors.contains("3 results from before; 3 servers left to ask"))
        #expect(run.output.contains("6 servers: 6 trusted"))
        #expect(try hosts().sorted() == (0..<6).map { "h\($0).audit.test" })
        #expect(try scene.read("results.ndjson").hasPrefix(lines.prefix(3).joined(separator: "\n") + "\n"))
        #expect(server.waitUntilClosed(connections: 9))
        // Every server has a result, so the audit asks none again.
        #expect(audit("--resume").code == 0)
        #expect(server.connectionCount == 9)
    }

    @Test("The server of a last line without a line break is asked again, because the line may end in half a number")
    func unbroken() throws {
        #expect(audit().code == 0)
        var whole = try scene.read("results.ndjson")
        whole.removeLast()
        try scene.directory.write(whole, to: "results.ndjson")
        #expect(audit("--resume").errors.contains("5 results from before; 1 server left to ask"))
        #expect(try hosts().count == 6)
    }

    @Test("An audit refuses to overwrite results, to mix policies, and to share its file with another audit")
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

    @Test("A line that is not a result is an error with its place, in every command that reads results")
    func malformed() throws {
        #expect(audit().code == 0)
        let good = try scene.read("results.ndjson")
        for line in ["{}", "[]", "x", "{\"host\": \"a.test\", \"port\": 443}", "{\"host\": \"a b\", \"port\": 443}"] {
            try scene.directory.write(line + "\n" + good, to: "results.ndjson")
            for run in [audit("--resume"), ToolRun("report", results)] {
                #expect(run.code == 2)
                #expect(run.errors.contains("results.ndjson:1: this is not a result of an audit"), "\(run.errors)")
            }
        }
        try scene.directory.write(good, to: "results.ndjson")
        #expect(audit("--resume").code == 0)
    }

    @Test("A file that ends in anything but the beginning of a result is left unchanged")
    func foreign() throws {
        #expect(audit().code == 0)
        let whole = try scene.read("results.ndjson")
        let oneLine = "{\"version\": 1, \"hosts\": [{\"host\": \"audit.test\", \"pins\": []}]}"
        for text in [oneLine, whole + oneLine, whole + "{\"host", whole + "x", "a.audit.test"] {
            try scene.directory.write(text, to: "results.ndjson")
            let run = audit("--resume")
            // The audit cuts off the beginning of a result and nothing else.
            let isTorn = text.hasSuffix("{\"host")
            #expect(run.code == (isTorn ? 0 : 2))
            #expect(try scene.read("results.ndjson") == (isTorn ? whole : text))
            if !isTorn {
                #expect(run.errors.contains("the last line is neither a result of an audit nor the beginning"))
            }
        }
    }

    @Test("Results of other anchors do not mix; the same certificates in another file are the same anchors")
    func anchors() throws {
        #expect(audit().code == 0)
        let before = try scene.read("results.ndjson")
        let other = try PintleTestKit.CertificateAuthority.root(name: "Other").certificate.pem
        let two = try scene.directory.write(scene.root.certificate.pem + other, to: "two.pem")
        func resume(_ more: String...) -> ToolRun {
            ToolRun(arguments: ["audit", policy, "--hosts", list, "-o", results, "--resume"] + more)
        }
        for run in [resume("--anchors", two), resume()] {
            #expect(run.code == 2)
            #expect(run.errors.contains("was decided by other anchors"))
        }
        let same = try scene.directory.write("a comment\n" + scene.root.certificate.pem, to: "same.pem")
        #expect(resume("--anchors", same).code == 0)
        #expect(try scene.read("results.ndjson") == before)
    }

    @Test("A result counts once, and only if its server is on the list")
    func countedOnce() throws {
        #expect(audit().code == 0)
        let whole = try scene.read("results.ndjson")
        try scene.directory.write(whole + whole, to: "results.ndjson")
        let page = scene.directory.path(of: "page.html")
        let run = audit("--resume", "--html", page)
        #expect(run.errors.contains("6 results from before; 0 servers left to ask\n"))
        #expect(run.output.contains("6 servers: 6 trusted"))
        #expect(try scene.read("page.html").contains("<b>6</b> servers"))
        #expect(ToolRun("report", results).output.contains("6 servers: 6 trusted"))
        let port = server.port
        _ = try scene.list((0..<4).map { ("h\($0).audit.test", port) })
        let fewer = audit("--resume", "--html", page)
        #expect(fewer.errors.contains("4 results from before; 0 servers left to ask; results of 2 other servers"))
        #expect(fewer.output.contains("4 servers: 4 trusted"))
        #expect(try scene.read("page.html").contains("<b>4</b> servers"))
    }

    private func line(_ host: String, _ day: String, _ verdict: String, policy: String = "aa") -> String {
        "{\"host\":\"\(host)\",\"port\":443,\"at\":\"2026-11-\(day)T00:00:00Z\",\(verdict),\"policy\":\"\(policy)\"}\n"
    }
    private let trusted = "\"decision\":\"trusted\",\"reason\":\"pin-matched\""
    private let rejected = "\"decision\":\"rejected\",\"reason\":\"pin-mismatch\""

    @Test("The newest result of a server counts, in any order of the files; results of two policies are an error")
    func newest() throws {
        let old = try scene.directory.write(line("a.test", "01", trusted), to: "old")
        let new = try scene.directory.write(line("a.test", "08", rejected), to: "new")
        for files in [[old, new], [new, old]] {
            let run = ToolRun(
                "report", files[0], files[1], "--html", scene.directory.path(of: "p.html"))
            #expect(run.code == 1)
            #expect(run.output.contains("REJECTED     pin-mismatch                a.test:443"))
            #expect(run.output.contains("1 server: 0 trusted, 1 rejected"))
            #expect(try scene.read("p.html").contains("<b>1</b> servers"))
        }
        try scene.directory.write(line("a.test", "01", rejected), to: "old")
        try scene.directory.write(line("a.test", "08", trusted), to: "new")
        #expect(ToolRun("report", old, new).code == 0)
        try scene.directory.write(line("b.test", "08", trusted, policy: "bb"), to: "new")
        let mixed = ToolRun("report", old, new)
        #expect(mixed.code == 2)
        #expect(mixed.errors.contains("new:1: b.test:443 was decided by another policy than the results before it"))
        #expect(ToolRun("report", new).code == 0)
    }

    @Test("A report has one row for all servers with the same reason, and names ten of them")
    func grouped() throws {
        let file = try scene.directory.write(
            line("good.test", "01", trusted) + (0..<102).map { line("r\($0).test", "01", rejected) }.joined(),
            to: "many")
        let run = ToolRun("report", file)
        #expect(run.code == 1)
        #expect(run.lines.count { $0.hasPrefix("REJECTED") } == 1)
        #expect(
            run.output.hasPrefix("REJECTED     pin-mismatch                102 servers\n    r0.test:443, r1.test:443, ")
        )
        #expect(run.output.contains(" r9.test:443, + 92 more\n\n103 servers: "))
        #expect(!run.output.contains("good.test"))
        let all = ToolRun("report", file, "-v")
        #expect(all.output.contains(" r101.test:443\n") && all.output.contains("good.test:443"))
    }

    @Test("A report has at most a hundred rows, or all of them with -v")
    func rows() throws {
        let lines = (0..<102).map {
            line("r\($0).test", "01", rejected.replacing("pin-mismatch", with: "reason-\($0)"))
        }
        let file = try scene.directory.write(lines.joined(), to: "different")
        let run = ToolRun("report", file)
        #expect(run.lines.count { $0.hasPrefix("REJECTED") } == 100)
        #expect(run.output.contains("\nand 2 servers with other reasons; -v names all servers\n"))
        #expect(ToolRun("report", file, "-v").lines.count { $0.hasPrefix("REJECTED") } == 102)
    }

    @Test("A report names what to give instead of a folder, a missing file and an empty file")
    func unusableResults() throws {
        let folder = ToolRun("report", scene.directory.path)
        #expect(
            folder.code == 2 && folder.errors.contains(": is a directory\npintle: hint: name a file in it\n"),
            "\(folder.errors)")
        let missing = ToolRun("report", scene.directory.path(of: "none"))
        #expect(missing.code == 2)
        #expect(missing.errors.contains("hint: check the name and the folder\n"), "\(missing.errors)")
        let empty = ToolRun("report", try scene.directory.write("", to: "empty"))
        #expect(
            empty.code == 2 && empty.errors.contains("hint: give a file that 'pintle audit -o' has written\n"),
            "\(empty.errors)")
    }

    @Test("An audit of no server is an error, but one shard of a list may be empty")
    func noServer() throws {
        try scene.directory.write("# no hosts yet\n\n", to: "hosts.txt")
        for more in [[], ["--shard", "1/3"]] {
            let run = ToolRun(arguments: ["audit", policy, "--hosts", list, "-o", results] + more)
            #expect(run.code == 2)
            #expect(run.errors.contains("there is no server to ask"))
            #expect(!InputFile.exists(results))
        }
        let port = server.port
        _ = try scene.list([("h0.audit.test", port)])
        let files = (1...3).map { scene.directory.path(of: "\($0).ndjson") }
        for (index, file) in files.enumerated() {
            #expect(scene.audit(policy, "--hosts", list, "--shard", "\(index + 1)/3", "-o", file).code == 0)
        }
        let sizes = try files.indices.map { try scene.read("\($0 + 1).ndjson").utf8.count }
        #expect(sizes.count { $0 == 0 } == 2)
        let whole = ToolRun("report", files[0], files[1], files[2])
        #expect(whole.code == 0)
        let empty = ToolRun("report", files[try #require(sizes.firstIndex(of: 0))])
        #expect(empty.code == 2)
        #expect(empty.errors.contains("there is no result to report on"))
    }

    @Test("Output files never replace input files")
    func notReplaced() throws {
        let before = try scene.read("policy.json")
        #expect(symlink("policy.json", scene.directory.path(of: "link.html")) == 0)
        let link = scene.directory.path(of: "link.html")
        for more in [
            ["-o", results, "--html", policy], ["-o", results, "--html", results], ["-o", results, "--html", link],
            ["-o", results, "--html", list], ["-o", results, "--html", scene.anchors], ["-o", policy, "--resume"],
        ] {
            let run = ToolRun(
                arguments: ["audit", policy, "--hosts", list, "--anchors", scene.anchors] + more)
            #expect(run.code == 2, "\(more)")
            #expect(run.errors.contains(" would replace "), "\(run.errors)")
        }
        #expect(try scene.read("policy.json") == before)
        #expect(server.connectionCount == 0)
        let page = scene.directory.path(of: "page.html")
        #expect(audit("--html", page).code == 0)
        // A page from an earlier run is replaced.
        #expect(audit("--resume", "--html", page).code == 0)
        #expect(ToolRun("report", results, "--html", results).errors.contains(" would replace "))
        #expect(ToolRun("report", results, "--html", page).code == 0)
    }

    @Test("Results from several machines make one report with each server once")
    func parts() throws {
        let files = (1...3).map { scene.directory.path(of: "\($0).ndjson") }
        for (index, file) in files.enumerated() {
            let run = scene.audit(policy, "--hosts", list, "--shard", "\(index + 1)/3", "-o", file)
            #expect(run.code == 0)
        }
        let whole = ToolRun(
            "report", files[0], files[1], files[2], files[1], "--json")
        #expect(whole.code == 0)
        #expect(try whole.json()["servers"]?.integer == 6)
        #expect(try whole.json()["reasons"]?["pin-matched"]?.integer == 6)
        try scene.directory.write(scene.read("1.ndjson") + "{\"host\":\"cut", to: "1.ndjson")
        let cut = ToolRun("report", files[0])
        #expect(cut.code == 0)
        #expect(cut.errors.contains("the last line was cut off and does not count"))
        #expect(ToolRun("report", scene.directory.path(of: "none.ndjson")).code == 2)
    }

    @Test("An audit that runs out of time says which servers are left, and the next audit asks them")
    func timeLimit() throws {
        let silent = try LoopbackTCPServer { $0.stall(seconds: 60) }
        let port = server.port
        let list = try scene.list(
            [("s.audit.test", silent.port)] + (0..<3).map { ("t\($0).audit.test", port) }, name: "s.txt")
        let metrics = try scene.directory.write("before\n", to: "pintle.prom")
        let late = scene.audit(
            policy, "--hosts", list, "-o", results, "--metrics", metrics, "--time-limit", "1",
            "--handshake-timeout", "3600")
        #expect(late.code == 2)
        #expect(late.errors.contains("warning: not asked: ") && late.errors.contains("; the time is up"))
        #expect(late.errors.contains("to go on: pintle audit "))
        // Metrics of a part would end the alerts about the other servers.
        #expect(try scene.read("pintle.prom") == "before\n" && late.errors.contains("pintle.prom is left as it was"))
        #expect(try !hosts().contains("s.audit.test"))
        let rest = scene.audit(
            policy, "--hosts", list, "-o", results, "--metrics", metrics, "--resume", "--handshake-timeout", "0.2")
        #expect(rest.code == 3)
        #expect(try scene.read("pintle.prom").contains("pintle_audit_servers{outcome=\"unreached\"} 1"))
        #expect(rest.output.contains("NOT REACHED  handshake-timeout"))
        #expect(try hosts().sorted() == ["s.audit.test", "t0.audit.test", "t1.audit.test", "t2.audit.test"])
    }

    @Test("An audit either writes its metrics or says that it did not, also if its time ends with the last result")
    func lastResult() throws {
        let silent = try LoopbackTCPServer { $0.stall(seconds: 60) }
        let metrics = try scene.directory.write("before\n", to: "pintle.prom")
        let run = ToolRun(
            "audit", "127.0.0.1:\(silent.port)", "-o", scene.directory.path(of: "late.ndjson"), "--metrics", metrics,
            "--time-limit", "1", "--handshake-timeout", "1")
        #expect([2, 3].contains(run.code), "\(run.errors)")
        #expect((try scene.read("pintle.prom") == "before\n") == (run.code == 2))
        #expect(run.errors.contains("pintle.prom is left as it was") == (run.code == 2))
    }

    @Test("Progress appears only on terminals and leaves nothing behind")
    func progress() throws {
        let silent = try LoopbackTCPServer { $0.stall(seconds: 60) }
        let list = try scene.list([("s.audit.test", silent.port)], name: "s.txt")
        let arguments = ["audit", policy, "--hosts", list, "--anchors", scene.anchors, "--handshake-timeout", "1"]
        let piped = ToolRun(arguments: arguments)
        #expect(!piped.errors.contains("["))
        let shown = ToolRun(arguments: arguments, environment: [:], terminalWidth: 80)
        #expect(shown.errors.contains("\r\u{1B}[K[....................]  0/1   0 rejected, 0 not reached"))
        #expect(shown.errors.contains("\r\u{1B}[K\u{1B}[31mNOT REACHED  \u{1B}[0mhandshake-timeout "))
        #expect(shown.errors.hasSuffix("\r\u{1B}[K") || shown.errors.hasSuffix("\n"))
        let dumb = ToolRun(arguments: arguments, environment: ["TERM": "dumb"], terminalWidth: 80)
        #expect(!dumb.errors.contains("\u{1B}"))
        #expect(
            AuditTally(now: Date(), requiresHybrid: false).progress(total: 0, before: 0, after: .zero)
                == "[####################]  0/0   0 rejected, 0 not reached")
    }
}
