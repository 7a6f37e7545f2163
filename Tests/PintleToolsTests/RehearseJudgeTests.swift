import Pintle
import PintleTestKit
import Testing

@testable import PintleAttacks
@testable import PintlePolicyFile
@testable import PintleTools

/// Small clients that end their connections to an interceptor in every way, and the verdicts about them.
@Suite("Rehearsal: ends of connections")
struct RehearseJudgeTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// A client that sends the right server a request, and ends its connection to an interceptor in the given way.
    /// Before Finished it knows the interceptor by its root, after Finished by its certificate.
    private static let client = """
        import os, re, socket, ssl, struct, sys, time
        url, ca, way, state = sys.argv[1:5]
        count = len(open(state).read()) if os.path.exists(state) else 0
        open(state, "a").write("x")
        when, end = way.split(" ", 1)
        context = ssl.create_default_context(cadata=re.search("-----BEGIN.*?END CERTIFICATE-----", open(ca).read(), re.S)[0])
        if when == "after":
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        stream = socket.create_connection(("127.0.0.1", int(re.search(r":(\\d+)/", url)[1])))
        isRefused = False
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                stream.sendall(outgoing.read())
                incoming.write(stream.recv(65536))
            except ssl.SSLError:
                isRefused = True
                break
        if when == "after":
            stream.sendall(outgoing.read())
            isRefused = b"Interceptor's Root" in tls.getpeercert(True)
        if not isRefused:
            # Another client gives up at every server but the first.
            if end == "gives up" and count > 0 or end == "gives up once" and count == 5: sys.exit(28)
            if end == "gives up twice" and count in (5, 6): sys.exit(count)
            tls.write(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
            stream.sendall(outgoing.read())
            stream.recv(4096)
            sys.exit(28 if end == "times out" and count > 0 else 0)
        if end == "changes":
            # Each trial ends otherwise than the one before; a refusal is measured before the second and the third.
            before = len(open(state + "-refusals").read()) if os.path.exists(state + "-refusals") else 0
            open(state + "-refusals", "a").write("x")
            end = "alert 90" if before in (0, 4, 6) else "finish"
        if end.startswith("alert"):
            stream.sendall(bytes([21, 3, 3, 0, 2, 2, int(end.split()[1])]))
            while stream.recv(4096): pass
        elif end == "close":
            try: tls.unwrap()
            except ssl.SSLWantReadError: pass
            stream.sendall(outgoing.read())
        elif end == "reset":
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif end == "late":
            time.sleep(1.5)
        elif end == "beside":
            second = socket.create_connection(stream.getpeername())
            second.sendall(outgoing.read())
        elif end == "silence":
            time.sleep(100)
        stream.close()
        sys.exit(1)
        """

    struct Row: Sendable, CustomTestStringConvertible {
        let way: String
        var isBlocked = true
        var remark: String?
        var testDescription: String { way }
    }

    private static let rows: [Row] =
        [
            "before alert 42", "before alert 46", "before alert 48", "before alert 40", "before alert 80",
            "before finish", "before reset", "after close", "after finish", "after reset",
        ].map { Row(way: $0) }
        + [
            Row(way: "before late", isBlocked: false, remark: "it ended later than it decides elsewhere"),
            Row(way: "after late", isBlocked: false, remark: "it ended later than it decides elsewhere"),
            Row(way: "before changes", isBlocked: false),
            Row(way: "before silence", isBlocked: false, remark: "killed after 6 s; no verdict"),
        ]

    private func run(_ way: String, only: String = "trusted-interceptor", options: [String] = []) throws -> ToolRun {
        let file = try directory.write(Self.client, to: "client.py")
        return ToolRun(
            arguments: ["rehearse", "--timeout", "6", "--json", "--only", only] + options + ["--", "python3", file]
                + ["{url}", "{ca}", way, directory.path(of: "state")])
    }

    private func result(_ run: ToolRun) throws -> (outcome: String?, remark: String?) {
        let attack = try #require(try run.json().elements.map(Array.init), "\(run.errors)").dropFirst().first
        return (attack?["outcome"]?.string, attack?["remark"]?.string)
    }

    @Test("The end of a client's connection decides as the table of evidence says", arguments: rows)
    func ends(_ row: Row) throws {
        let run = try run(row.way)
        let (outcome, remark) = try result(run)
        #expect(outcome == (row.isBlocked ? "blocked" : "inconclusive"), "\(run.output) \(run.errors)")
        if row.remark != nil { #expect(remark == row.remark) }
        #expect(run.code == (row.isBlocked ? 0 : 1))
    }

    @Test("A client that gives up at the right server too is no verdict, in text, JUnit, SARIF and the exit code")
    func givesUp() throws {
        let file = try directory.write(Self.client, to: "client.py")
        let (junit, sarif) = (directory.path(of: "r.xml"), directory.path(of: "r.sarif"))
        let run = ToolRun(
            arguments: RehearseTests.rehearse + [
                "--only", "trusted-interceptor", "--junit", junit, "--sarif", sarif, "--", "python3", file, "{url}",
                "{ca}", "after gives up", directory.path(of: "state"),
            ])
        #expect(run.code == 1)
        #expect(run.output.contains("it gave up at the right server too"), "\(run.output)")
        #expect(run.output.contains("1 inconclusive") && run.output.contains("next: "))
        #expect(String(decoding: try directory.read("r.xml"), as: UTF8.self).contains("errors=\"1\""))
        #expect(String(decoding: try directory.read("r.sarif"), as: UTF8.self).contains("\"warning\""))
        // The same end, of a client that the right server answers each time.
        #expect(try result(self.run("after finish")).outcome == "blocked")
    }

    @Test(
        "A client that ends at a server that it accepts has no verdict at others, also before",
        arguments: [
            ("after gives up once", "renewed-same-key"), ("after gives up once", "redirect-to-http"),
            ("after gives up twice", "renewed-same-key"), ("after times out", "renewed-same-key"),
        ])
    func givesUpLater(way: String, next: String) throws {
        // The fifth run after the first is the first one at the next attack.
        for (way, outcome) in [(way, "inconclusive"), ("after finish", "blocked")] {
            _ = try runProcess(["rm", "-f", directory.path(of: "state")])
            let run = try run(way, only: "trusted-interceptor,\(next)", options: ["--parallel", "1"])
            #expect(try result(run).outcome == outcome, "\(way) \(run.output) \(run.errors)")
            #expect(run.code == (outcome == "blocked" ? 0 : 1))
        }
    }

    @Test("An end that needs five runs takes no run without other clients")
    func repetitions() throws {
        // On a busy machine a client may need more runs.
        let counts = try (0..<3).map { number in
            let before = (try? directory.read("state").count) ?? 0
            #expect(try result(self.run("before reset")).outcome == "blocked")
            return try directory.read("state").count - before
        }
        // Five trials, the refusal of a self-signed server, and the right server once at first and five times later.
        #expect(try #require(counts.min()) <= 12, "\(counts)")
    }

    @Test("A client that refuses with an alert is run once for each attack")
    func alertsNeedNoRepetition() throws {
        let file = directory.path(of: "runs")
        func runs(_ attack: String) throws -> Int {
            _ = try runProcess(["rm", "-f", file])
            let script = "printf x >> \(file); exec curl -sS -m 20 --cacert \"$1\" \"$2\""
            let run = ToolRun(
                arguments: RehearseTests.rehearse + ["--only", attack, "--", "sh", "-c", script, "sh", "{ca}", "{url}"])
            #expect(run.code == 0, "\(run.output) \(run.errors)")
            return try directory.read("runs").count
        }
        #expect(try runs("untrusted-ca,pinned-key-untrusted-ca,self-signed,expired,not-yet-valid,leaf-as-ca") == 7)
        // curl compares names after the handshake, and then closes the connection without an alert.
        #expect(try runs("wrong-host") > 3)
    }

    @Test("The article's table is what the judge answers")
    func article() throws {
        let text = String(
            decoding: try Recipes.file("Sources/PintleTools/PintleTools.docc/Rehearsing.md"), as: UTF8.self)
        let rows = text.split(separator: "\n").drop { !$0.hasPrefix("| The connection ended with") }.dropFirst(2)
            .prefix { $0.hasPrefix("|") }.map {
                $0.split(separator: "|").map { $0.trimmingPrefix(" ").split(separator: "  ")[0] }
            }
        let manners: [[ConnectionEnd.Manner]] = [
            [42, 43, 44, 45, 46, 48, 49].map { .alert($0) }, [.alert(40), .alert(80)], [.alert(90), .alert(50)],
            [.closing], [.finish], [.unread], [.unoffered], [.silence, .early],
        ]
        try #require(rows.count == manners.count)
        for (row, manners) in zip(rows, manners) {
            for manner in manners {
                for (cell, isAfterFinished) in [(1, false), (2, true)] {
                    var habit = ClientHabit()
                    habit.isControlled = true
                    for code in [UInt8(40), 80, 90, 50] { habit.add(refusal: 1, alert: code) }
                    // These ends do not occur after Finished.
                    let isPossible = !isAfterFinished || manner != .unoffered && manner != .early && manner != .unread
                    let end = ConnectionEnd(
                        manner: manner == .unread && isAfterFinished ? .finish : manner,
                        isAfterFinished: isAfterFinished)
                    let needed = (1...5).first {
                        Evidence.doubt(about: [Trial](repeating: Trial([end]), count: $0), habit: habit) == nil
                    }
                    let words = [1: "one", 2: "two", 5: "five"]
                    let expected = needed.flatMap { words[$0] } ?? "never"
                    let cellText = row[cell].split(separator: " ")[0]
                    if isPossible || manner == .unread { #expect(cellText == expected, "\(row)") }
                }
            }
        }
    }

    @Test("curl without pins whose own time-out ends its handshakes has no verdict, and keeps it with pins")
    func ownTimeout() throws {
        let state = directory.path(of: "runs")
        let script = "[ -e \(state) ] && t=0.006; touch \(state); exec curl -sS -m ${t:-5} --cacert \"$1\" \"$2\""
        let attacks = "trusted-interceptor,copied-certificate,renewed-same-key"
        let run = ToolRun(
            arguments: ["rehearse", "--json", "--only", attacks, "--", "sh", "-c", script, "sh", "{ca}", "{url}"])
        #expect(run.code == 1, "\(run.output)")
        for outcome in try RehearseTests.outcomes(run).filter({ attacks.contains($0.key) }).values {
            #expect(["inconclusive", "let-through", "accepted"].contains(outcome), "\(run.output)")
        }
        let pinned = ToolRun(
            arguments: ["rehearse", "--json", "--only", attacks, "--"] + RehearseTests.curl
                + ["--pinnedpubkey", "{pins}", "{url}"])
        #expect(pinned.code == 0, "\(pinned.output)")
    }
}
