import Glibc
import Pintle
import PintleTestKit
import Testing

/// Clients that misbehave, and what a rehearsal says about itself.
@Suite("Rehearsal: clients of all kinds")
struct RehearseClientTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let good = RehearseTests.curl + ["{url}"]

    /// A rehearsal with one attack.
    private func run(_ options: [String] = [], only: String = "expired", shell: String) -> ToolRun {
        ToolRun(
            arguments: RehearseTests.rehearse + ["--only", only] + options + ["--", "sh", "-c", shell, "sh"] + Self.good
        )
    }

    @Test("What does not exist is told, and how to name it")
    func missingProgram() {
        let run = ToolRun("rehearse", "--", "no-such-client", "{url}")
        #expect(run.code == 2)
        #expect(run.errors.contains("pintle: error: the client cannot be run: starting no-such-client: "))
        #expect(run.errors.contains("on the PATH"))
    }

    @Test(
        "A client that is not told where the server is would look blocked everywhere",
        arguments: ["curl", "{host}", "{ca}", "{ur}", "{ url }"])
    func missingPlaceholder(word: String) {
        let run = ToolRun("rehearse", "--", "curl", word)
        #expect(run.code == 2)
        #expect(run.errors.contains("the client is not told where the server is"))
        #expect(run.errors.contains("put {url}"))
    }

    @Test(
        "Command lines that cannot be used",
        arguments: [
            (["--only", "expird", "--", "curl", "{url}"], "no attack is called \"expird\"; did you mean expired?"),
            (["--only", ",", "--", "curl", "{url}"], "--only names no attack"),
            (["--timeout", "0", "--", "curl", "{url}"], "--timeout takes seconds"),
            (["--timeout", "nan", "--", "curl", "{url}"], "--timeout takes seconds"),
            (["--listen", "127.0.0.1", "--", "curl", "{url}"], "--listen goes with --serve"),
            (["--serve", "--", "curl", "{url}"], "--serve runs no client"),
            (["--serve", "--listen", "0.0.0.0"], "--listen takes one address"),
            (["--serve", "--listen", "example.test"], "--listen takes one address"),
            (["--list", "--", "curl"], "--list runs nothing"),
            (["--junit", "a", "--html", "a", "--", "curl", "{url}"], "would replace"),
            ([], "CLIENT is missing"),
        ])
    func usage(arguments: [String], message: String) {
        let run = ToolRun(arguments: ["rehearse"] + arguments)
        #expect(run.code == 2)
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test("Other braces reach the client as they are, and what is put in is not looked through")
    func placeholders() throws {
        let file = directory.path(of: "words")
        let words = [
            "{url}", "{ca}", "{\"a\": {}}", "x{port}y{host}{", "{pin}", "{pins}", "sha256/{pin-base64}",
            "{backup-base64}", "{policy}", "{issuer}",
        ]
        let shell = "printf '%s\\n' \"$@\" > \(file); exec curl -sS -m 12 --cacert \"$2\" \"$1\""
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--only", "expired", "--", "sh", "-c", shell, "sh"] + words)
        #expect(run.code == 0, "\(run.errors)")
        let seen = String(decoding: try directory.read("words"), as: UTF8.self).split(separator: "\n").map(String.init)
        try #require(seen.count == 10)
        #expect(seen[0].hasPrefix("https://localhost:"))
        #expect(seen[2] == "{\"a\": {}}")
        #expect(seen[3] == "x\(seen[0].dropFirst("https://localhost:".count).dropLast())ylocalhost{")
        let pin = String(seen[6].dropFirst("sha256/".count))
        #expect(seen[4] == "sha256//\(pin)")
        #expect(seen[5] == "sha256//\(pin);sha256//\(seen[7])")
        #expect(pin.count == 44 && seen[9].hasPrefix("sha256//") && !seen[9].hasSuffix(pin))
        // Both files are gone with the run.
        #expect(access(seen[1], F_OK) != 0 && access(seen[8], F_OK) != 0)
    }

    @Test("One that prints without end is served, and what it writes is not kept")
    func chattyClient() {
        let run = run(["-v"], shell: "head -c 30000000 /dev/zero | tr '\\0' x >&2; exec \"$@\"")
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output.utf8.count < 4_000)
    }

    @Test("One that never ends is judged by what the servers got, and is gone afterwards")
    func endlessClient() throws {
        let file = directory.path(of: "pids")
        let shell = "echo $$ >> \(file); \"$@\"; sleep 600 & echo $! >> \(file); wait"
        let run = ToolRun(
            arguments: [
                "rehearse", "--timeout", "3", "--json", "--only", "trusted-interceptor,expired", "--", "sh", "-c",
            ]
                + [shell, "sh"] + Self.good)
        let outcomes = try RehearseTests.outcomes(run)
        #expect(run.code == 1)
        #expect(outcomes["trusted-interceptor"] == "let-through")
        #expect(outcomes["expired"] == "blocked")
        #expect(outcomes["control"] == "accepted")
        #expect(run.errors.contains("does not end; what counts is what servers get"))
        let processes = String(decoding: try directory.read("pids"), as: UTF8.self).split(separator: "\n")
        #expect(processes.count == 6)
        for process in processes.compactMap({ Int32($0) }) { #expect(!RunningProcess.runs(process)) }
    }

    @Test("One that leaves others behind takes them along")
    func forkingClient() throws {
        let file = directory.path(of: "pids")
        let run = run(shell: "(while :; do echo noise; sleep 0.01; done) & echo $! >> \(file); exec \"$@\"")
        #expect(run.code == 0, "\(run.errors)")
        let processes = String(decoding: try directory.read("pids"), as: UTF8.self).split(separator: "\n")
        #expect(processes.count == 2)
        for process in processes.compactMap({ Int32($0) }) { #expect(!RunningProcess.runs(process)) }
    }

    @Test("One that closes its streams, or ends by a signal, is judged all the same")
    func closedStreams() {
        #expect(run(shell: "exec <&- >&- 2>&-; exec \"$@\"").code == 0)
        #expect(run(shell: "\"$@\" || kill -9 $$").code == 0)
    }

    @Test("A server that stalls gives no verdict, unless the client gives up by itself")
    func stall() throws {
        let options = ["--only", "stall-mid-handshake", "--timeout", "2.5", "--"]
        let patient = ToolRun(arguments: ["rehearse"] + options + ["curl", "-sS", "--cacert", "{ca}", "{url}"])
        #expect(patient.code == 1)
        #expect(patient.output.contains("inconclusive"))
        #expect(patient.output.contains("killed after 2.5 s; no verdict"))
        #expect(patient.output.contains("next: give the client a time-out of its own, shorter than --timeout"))
        let hasty = ToolRun(
            arguments: RehearseTests.rehearse + ["--only", "stall-mid-handshake", "--", "curl", "-sS", "-m", "2"]
                + ["--cacert", "{ca}", "{url}"])
        #expect(hasty.code == 0, "\(hasty.output)")
    }

    @Test("Proxies in the environment do not get to see it")
    func proxies() {
        #expect(run(shell: "test -z \"$https_proxy$HTTPS_PROXY$ALL_PROXY\" && exec \"$@\"").code == 0)
    }

    @Test("A retry after a 401 is an attack of its own")
    func retry() throws {
        let client = RehearseTests.curl + ["--anyauth", "-u", "user:secret"]
        let options = RehearseTests.rehearse + ["--json", "--only", "retry-after-401", "--"]
        let careless = ToolRun(arguments: options + client + ["{url}"])
        #expect(try RehearseTests.outcomes(careless)["retry-after-401"] == "let-through")
        let pinned = ToolRun(arguments: options + client + ["--pinnedpubkey", "{pins}", "{url}"])
        #expect(try RehearseTests.outcomes(pinned)["retry-after-401"] == "blocked")
    }

    @Test("The list names each attack, its standard and why it matters")
    func list() throws {
        let list = ToolRun("rehearse", "--list")
        #expect(list.code == 0)
        #expect(list.lines.allSatisfy { $0.count <= 80 })
        let entries = try #require(try ToolRun("rehearse", "--list", "--json").json().elements.map(Array.init))
        #expect(entries.count >= 31)
        for entry in entries {
            #expect(ToolRun.keys(entry) == ["id", "expected", "reference", "summary", "why"])
            #expect(list.output.contains(try #require(entry["id"]?.string)))
        }
        #expect(Set(entries.compactMap { $0["id"]?.string }).count == entries.count)
    }
}

/// A process that is not this one's child.
enum RunningProcess {
    /// Whoever adopted it may not have asked for its end yet: what counts is that it does not run.
    static func runs(_ process: Int32) -> Bool {
        guard let status = try? runProcess(["cat", "/proc/\(process)/stat"]), status.status == 0 else { return false }
        return !status.output.contains(") Z ")
    }
}
