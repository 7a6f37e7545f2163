import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// The catalogue over both versions of HTTP, and the attacks on clients of HTTP/2.
@Suite("Rehearsal: HTTP/2")
struct RehearseHTTP2Tests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func python(_ only: String, _ mistakes: String, _ pins: [String]) throws -> (outcome: String?, run: ToolRun)
    {
        let file = try directory.write(HTTP2Client.script, to: "client.py")
        let client = [try #require(HTTP2Client.python), file, "{url}", "{ca}", mistakes] + pins
        let run = ToolRun(arguments: RehearseTests.rehearse + ["--json", "--only", only, "--"] + client)
        return (try RehearseTests.outcomes(run)[only], run)
    }

    private static let needed: Comment = "skipped: no Python with h2 in $PINTLE_VENV"
    private static let pin = ["{host}", "{pin-base64}"]
    private static let bothPins = pin + ["{other-host}", "{other-pin-base64}"]

    @Test(
        "The same client has the same outcomes over both versions, and the results name the one that it chose",
        arguments: [("2", [], "h2"), ("1.1", [], "http/1.1"), ("both", ["--no-alpn"], nil)])
    func versions(http: String, options: [String], chosen: String?) throws {
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--json", "--http", http] + RehearseTests.quickGroups + ["--"]
                + RehearseTests.curl + options
                + ["--pinnedpubkey", "{pins};{other-pin}", "-L", "{url}"])
        #expect(run.code == 1, "\(run.output)")
        let outcomes = try RehearseTests.outcomes(run)
        // curl compares the same pins at each host and follows redirects to plain HTTP.
        #expect(RehearseTests.ids(outcomes, "let-through") == ["redirect-to-http"])
        #expect(RehearseTests.ids(outcomes, "accepted") == RehearseTests.changes.union(["control"]))
        #expect(RehearseTests.ids(outcomes, "inconclusive").isEmpty)
        let lacking: Set =
            chosen == "h2" ? [] : ["goaway-moves-request", "refused-stream-moves-request", "coalesced-connection"]
        #expect(
            RehearseTests.ids(outcomes, "not-run")
                == RehearseTests.neverRun.union(lacking).union([RehearseTests.asking]))
        for attack in try #require(try run.json().elements.map(Array.init)) where attack["outcome"]?.string != "not-run"
        {
            // A server with old TLS offers HTTP/1.1, and a handshake can fail before ALPN.
            let name = attack["protocol"]?.string
            #expect(name == chosen || attack["id"]?.string?.hasPrefix("tls-1.") == true, "\(attack)")
        }
    }

    @Test("The control line and the reports name HTTP/2, and a client without ALPN has no protocol")
    func reports() throws {
        let (junit, html) = (directory.path(of: "r.xml"), directory.path(of: "r.html"))
        func run(_ options: [String]) -> ToolRun {
            ToolRun(
                arguments: RehearseTests.rehearse + [
                    "-v", "--only", "trusted-interceptor", "--junit", junit, "--html", html,
                ]
                    + ["--"] + RehearseTests.curl + options + ["{url}"])
        }
        let over2 = run([])
        #expect(over2.lines.first?.hasSuffix(" request bytes over HTTP/2") == true, "\(over2.output)")
        #expect(over2.output.contains("exit code 0; over HTTP/2"))
        #expect(String(decoding: try directory.read("r.xml"), as: UTF8.self).contains("\nprotocol: h2\n"))
        #expect(String(decoding: try directory.read("r.html"), as: UTF8.self).contains("The client chose HTTP/2."))
        let over1 = run(["--no-alpn"])
        #expect(over1.lines.first?.hasSuffix(" request bytes") == true, "\(over1.output)")
        #expect(!String(decoding: try directory.read("r.xml"), as: UTF8.self).contains("protocol:"))
        #expect(!String(decoding: try directory.read("r.html"), as: UTF8.self).contains("The client chose"))
    }

    @Test("An unknown version of HTTP is refused")
    func usage() {
        let run = ToolRun("rehearse", "--http", "3", "--", "curl", "{url}")
        #expect(run.code == 2 && run.errors.contains("\"3\" is not a value of --http"), "\(run.errors)")
    }

    @Test("curl without pins sends a refused request again to an interceptor, and curl with pins does not")
    func moved() throws {
        let id = "refused-stream-moves-request"
        let options = RehearseTests.rehearse + ["--json", "--only", id, "--"] + RehearseTests.curl
        let careless = ToolRun(arguments: options + ["{url}"])
        #expect(try RehearseTests.outcomes(careless)[id] == "let-through", "\(careless.output)")
        let pinned = ToolRun(arguments: options + ["--pinnedpubkey", "{pins}", "{url}"])
        #expect(try RehearseTests.outcomes(pinned)[id] == "blocked", "\(pinned.output)")
        #expect(!pinned.output.contains("it did not follow"))
        let older = ToolRun(arguments: options + ["--http1.1", "{url}"])
        #expect(older.code == 2 && older.errors.contains("this client speaks HTTP/1.1"), "\(older.errors)")
    }

    @Test(
        "A client that compares pins only on its first connection loses a request that the server returns",
        .enabled(if: HTTP2Client.python != nil, needed),
        arguments: ["trustsRetries", "preconnects", "none"],
        ["goaway-moves-request", "refused-stream-moves-request"])
    func movedPython(mistakes: String, id: String) throws {
        let (outcome, run) = try python(id, mistakes, Self.pin)
        #expect(outcome == (mistakes == "none" ? "blocked" : "let-through"), "\(run.output) \(run.errors)")
        #expect(!run.output.contains("it did not follow"))
    }

    @Test(
        "A client that uses one connection for two hosts skips the other host's pin",
        .enabled(if: HTTP2Client.python != nil, needed), arguments: ["coalesces", "none"])
    func coalesced(mistakes: String) throws {
        let (outcome, run) = try python("coalesced-connection", mistakes, Self.bothPins)
        #expect(outcome == (mistakes == "none" ? "blocked" : "let-through"), "\(run.output) \(run.errors)")
        let results = try #require(try run.json().elements.map(Array.init))
        let attack = try #require(results.first { $0["id"]?.string == "coalesced-connection" })
        #expect(attack["clientExit"]?.integer == 0, "it gets its response, from one server or the other")
        #expect((attack["requestBytes"]?.integer ?? 0 > 0) == (mistakes != "none"))
    }

    @Test(
        "OkHttp uses one connection for two hosts, unless its CertificatePinner has pins for the other host",
        .enabled(if: PrintedRecipe.hasPeers, "skipped: make peers installs OkHttp and runs this"),
        arguments: [true, false])
    func okHttp(pinsBoth: Bool) throws {
        let jars = "/usr/share/java/okhttp.jar:/usr/share/java/okio.jar"
        let compiled = try runProcess(
            ["javac", "-nowarn", "-cp", jars, "-d", directory.path]
                + ["\(Recipes.root)/Examples/clients/OkHttpPinned.java"], timeout: 300)
        try #require(compiled.status == 0, "\(compiled.errorOutput)")
        // The variable only shows that the client knows the other pin.
        let client =
            ["env", "OTHER={other-pin}", "java", "-cp", "\(directory.path):\(jars)", "OkHttpPinned", "{ca}", "{url}"]
            + ["sha256/{pin-base64}"] + (pinsBoth ? ["{other-host}@sha256/{other-pin-base64}"] : [])
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--json", "--only", "coalesced-connection", "--"] + client)
        #expect(
            try RehearseTests.outcomes(run)["coalesced-connection"] == (pinsBoth ? "blocked" : "let-through"),
            "\(run.output) \(run.errors)")
    }

    @Test("Coalescing proves nothing about a client that does not get the other host's pin, or speaks HTTP/1.1")
    func notCoalesced() throws {
        let options = RehearseTests.rehearse + ["--only", "coalesced-connection", "--"]
        let untold = ToolRun(arguments: options + RehearseTests.curl + ["-L", "{url}"])
        #expect(untold.code == 2 && untold.errors.contains("no pin for the other host: {other-pin} is one"))
        let older = ToolRun(arguments: options + RehearseTests.curl + ["--http1.1", "-e", "{other-pin}", "{url}"])
        #expect(older.code == 2 && older.errors.contains("this client speaks HTTP/1.1"), "\(older.errors)")
        let forced = ToolRun(
            arguments: RehearseTests.rehearse + ["--http", "1.1", "--only", "coalesced-connection", "--"]
                + RehearseTests.curl + ["-e", "{other-pin}", "{url}"])
        #expect(forced.code == 2 && forced.errors.contains("--http 1.1 leaves HTTP/2 out"), "\(forced.errors)")
    }

    @Test("Only the attack on two hosts gets the policy with a rule for each of them")
    func policies() throws {
        let file = directory.path(of: "policies")
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--only", "coalesced-connection,expired", "--parallel", "1", "--"]
                + ["sh", "-c", "cat \"$1\" >> \(file); echo ===== >> \(file); shift; exec \"$@\"", "sh", "{policy}"]
                + RehearseTests.curl + ["-L", "{url}"])
        #expect(run.code == 0, "\(run.output) \(run.errors)")
        let texts = String(decoding: try directory.read("policies"), as: UTF8.self).split(separator: "=====\n")
        #expect(texts.map { $0.contains("127.0.0.1") } == [false, false, true], "\(texts)")
        #expect(texts.allSatisfy { $0.contains("localhost") })
    }
}
