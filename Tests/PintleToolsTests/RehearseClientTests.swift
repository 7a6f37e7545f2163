import Glibc
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// Misbehaving clients, and the errors of the rehearsal itself.
@Suite("Rehearsal: clients of all kinds")
struct RehearseClientTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let good = RehearseTests.curl + ["{url}"]

    /// Runs a rehearsal with one attack.
    private func run(_ options: [String] = [], only: String = "expired", shell: String) -> ToolRun {
        ToolRun(
            arguments: RehearseTests.rehearse + ["--only", only] + options + ["--", "sh", "-c", shell, "sh"] + Self.good
        )
    }

    @Test("A client that does not exist is an error with a hint")
    func missingProgram() {
        let run = ToolRun("rehearse", "--", "no-such-client", "{url}")
        #expect(run.code == 2)
        #expect(run.errors.contains("pintle: error: the client cannot be run: starting no-such-client: "))
        #expect(run.errors.contains("on the PATH"))
    }

    @Test(
        "A client without a placeholder for the server's address is refused, because it would look blocked everywhere",
        arguments: ["curl", "{host}", "{ca}", "{ur}", "{ url }"])
    func missingPlaceholder(word: String) {
        let run = ToolRun("rehearse", "--", "curl", word)
        #expect(run.code == 2)
        #expect(run.errors.contains("the client is not told where the server is"))
        #expect(run.errors.contains("put {url}"))
    }

    @Test(
        "An unusable command line is refused",
        arguments: [
            (["--only", "expird", "--", "curl", "{url}"], "no attack is called \"expird\"; did you mean expired?"),
            (["--only", ",", "--", "curl", "{url}"], "--only and --group name no attack"),
            (["--group", "hols", "--", "curl", "{url}"], "no group is called \"hols\"; did you mean hold?"),
            (["--group", ",", "--list"], "--only and --group name no attack"),
            (["--timeout", "0", "--", "curl", "{url}"], "--timeout takes seconds"),
            (["--timeout", "nan", "--", "curl", "{url}"], "--timeout takes seconds"),
            (["--listen", "127.0.0.1", "--", "curl", "{url}"], "--listen goes with --serve"),
            (["--serve", "--", "curl", "{url}"], "--serve runs no client"),
            (["--serve", "--listen", "0.0.0.0"], "--listen takes one address"),
            (["--serve", "--listen", "example.test"], "--listen takes one address"),
            (["--serve", "--listen", "::ffff:127.0.0.1"], "--listen takes one address"),
            (["--serve", "--listen", "255.255.255.255"], "--listen takes one address"),
            (["--serve", "--host", "example.test:99"], "--host takes a name or an address alone"),
            (["--serve", "--host", "https://example.test/"], "--host takes a name or an address alone"),
            (["--list", "--", "curl"], "--list runs nothing"),
            (["--junit", "a", "--html", "a", "--", "curl", "{url}"], "--html a would replace the file of --junit"),
            (["--junit", "a", "--sarif", "a", "--", "curl", "{url}"], "--sarif a would replace the file of --junit"),
            (["--html", "a", "--sarif", "./a", "--", "curl", "{url}"], "--sarif ./a would replace the file of --html"),
            ([], "CLIENT is missing"),
        ])
    func usage(arguments: [String], message: String) {
        let run = ToolRun(arguments: ["rehearse"] + arguments)
        #expect(run.code == 2)
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test("A client gets other braces unchanged, and inserted values are not searched for placeholders")
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
        // The run has removed both files.
        #expect(access(seen[1], F_OK) != 0 && access(seen[8], F_OK) != 0)
    }

    @Test("A client that prints without end gets a verdict, and its output does not fill the memory")
    func chattyClient() {
        let run = run(["-v"], shell: "head -c 30000000 /dev/zero | tr '\\0' x >&2; exec \"$@\"")
        #expect(run.code == 0, "\(run.errors)")
        #expect(run.output.utf8.count < 4_000)
    }

    @Test("The verdict on a client that never ends comes from the bytes that the servers got, and the client is killed")
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

    @Test("A client that refuses the certificate and then runs into the time limit has no verdict")
    func lingeringRefusal() throws {
        func outcome(_ end: String) throws -> (ToolRun, outcome: String?, remark: String?) {
            let run = ToolRun(
                arguments: ["rehearse", "--timeout", "3", "--json", "--only", "expired", "--", "sh", "-c"]
                    + ["\"$@\" || \(end)", "sh"] + Self.good)
            let attack = try #require(try run.json().elements.map(Array.init)).first { $0["id"]?.string == "expired" }
            return (run, attack?["outcome"]?.string, attack?["remark"]?.string)
        }
        let waiting = try outcome("exec sleep 600")
        #expect(waiting.0.code == 1)
        #expect(waiting.outcome == "inconclusive", "\(waiting.0.output)")
        #expect(waiting.remark == "ended by --timeout; it may have tried again")
        // A client that ends by itself is blocked.
        let ended = try outcome("exit 1")
        #expect(ended.0.code == 0)
        #expect(ended.outcome == "blocked" && ended.remark == nil, "\(ended.0.output)")
    }

    @Test(
        "A client that fails after its request has no verdict, unless it also fails at the right server",
        arguments: [true, false])
    func failsOnce(atTheControl: Bool) {
        let mark = directory.path(of: "mark")
        let fail = "\"$@\"; echo 'no room left on the disk' >&2; exit 1"
        let shell =
            atTheControl
            ? "if [ -e \(mark) ]; then exec \"$@\"; fi; touch \(mark); \(fail)"
            : "if [ ! -e \(mark) ]; then touch \(mark); exec \"$@\"; fi; \(fail)"
        let run = run(["-v"], only: "renewed-same-key", shell: shell)
        #expect(run.errors.contains("ends with exit code 1; what counts is what servers get") == atTheControl)
        // The output has the client's own words beside the failure.
        #expect((run.output + run.errors).contains("  no room left on the disk"), "\(run.output) \(run.errors)")
        #expect(run.code == (atTheControl ? 0 : 1))
        #expect(run.output.contains("it sent its request, but ended with exit code 1") != atTheControl)
    }

    @Test("The tool ends processes that a client leaves behind")
    func forkingClient() throws {
        let file = directory.path(of: "pids")
        let run = run(shell: "(while :; do echo noise; sleep 0.01; done) & echo $! >> \(file); exec \"$@\"")
        #expect(run.code == 0, "\(run.errors)")
        let processes = String(decoding: try directory.read("pids"), as: UTF8.self).split(separator: "\n")
        #expect(processes.count == 2)
        for process in processes.compactMap({ Int32($0) }) { #expect(!RunningProcess.runs(process)) }
    }

    @Test("A client that closes its streams gets a normal verdict")
    func closedStreams() {
        #expect(run(shell: "exec <&- >&- 2>&-; exec \"$@\"").code == 0)
    }

    @Test(
        "A crash without an alert is not a refusal, even if a shell reports it",
        arguments: [("kill -9 $$", 9), ("sh -c 'kill -SEGV $$'", 11), ("(exit 143)", 15)])
    func crash(end: String, signal: Int) {
        // curl compares names itself, after the handshake, and sends no alert.
        let run = run(only: "wrong-host", shell: "\"$@\" || \(end)")
        #expect(run.code == 1)
        #expect(
            run.output.contains("inconclusive") && run.output.contains("ended by signal \(signal)"), "\(run.output)")
        // For an expired certificate curl sends an alert, so the crash is a refusal.
        #expect(self.run(shell: "\"$@\" || \(end)").code == 0)
        // A client that ends by the same signal at the right server is judged by its connections.
        #expect(self.run(shell: "\"$@\"; \(end)").code == 0)
    }

    @Test("A client that falls back to plain HTTP on the same port has let the attack through")
    func fallback() throws {
        let shell = "for url; do :; done; \"$@\" || exec curl -s -m 12 --http0.9"
        let run = run(["--json"], shell: shell + " \"http${url#https}\"")
        let expired = try #require(try run.json().elements.map(Array.init)).first { $0["id"]?.string == "expired" }
        #expect(run.code == 1)
        #expect(expired?["outcome"]?.string == "let-through")
        #expect(expired?["remark"]?.string == "sent in the clear")
        #expect((expired?["requestBytes"]?.integer ?? 0) > 0)
        let text = self.run(
            only: "trusted-interceptor",
            shell: shell.replacing("\"$@\"", with: "\"$@\" --pinnedpubkey x")
                + " \"http${url#https}\"")
        #expect(text.code == 2 && text.errors.contains("proves nothing"), "\(text.output)")
        #expect(
            self.run(shell: shell + " \"http${url#https}\"").output.contains(
                "next: 1. it sends its request in the clear"))
        // A client that retries the same server over TLS is blocked.
        #expect(self.run(shell: shell + " \"$url\"").code == 0)
    }

    @Test("If the time limit ends a client before it connects, the tool advises more time")
    func slowStart() {
        let slow = ToolRun(
            arguments: ["rehearse", "--timeout", "1", "--only", "expired", "--", "sh", "-c", "sleep 60", "{url}"])
        #expect(slow.code == 2)
        #expect(slow.errors.contains("the client was ended after 1 s before it connected to the right server"))
        #expect(slow.errors.contains("give it more time with --timeout"))
        // The client is slow only at an attack. The file shows that it has been at the right server.
        let file = directory.path(of: "seen")
        let shell = "test -e \(file) && sleep 60; touch \(file); exec \"$@\""
        let late = ToolRun(
            arguments: ["rehearse", "--timeout", "3", "--only", "expired", "--", "sh", "-c", shell, "sh"] + Self.good)
        #expect(late.code == 1)
        #expect(
            late.output.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains(
                "the client was ended after 3 s before it connected; give it more time with --timeout"),
            "\(late.output) \(late.errors)")
        // A client that ends by itself did not connect.
        #expect(ToolRun("rehearse", "--", "sh", "-c", "exit 0", "{url}").errors.contains("the client did not connect"))
    }

    @Test("The bytes of a client count, however fast it closes the connection")
    func hastyClient() throws {
        let script = """
            import os, re, socket, ssl, sys
            url, ca = sys.argv[1:]
            port = int(re.search(r":(\\d+)/", url).group(1))
            context = ssl.create_default_context(cafile=ca)
            try:
                stream = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
                stream.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                place = re.search(rb"http://localhost:(\\d+)/", stream.recv(4096))
            except OSError:
                sys.exit(1)
            if place:
                streams = [socket.create_connection(("127.0.0.1", int(place.group(1)))) for _ in range(60)]
                for stream in streams:
                    stream.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
                os._exit(0)
            """
        let file = try directory.write(script, to: "client.py")
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--json", "--only", "redirect-to-http", "--", "python3", file]
                + ["{url}", "{ca}"])
        let result = try #require(try run.json().elements.map(Array.init)).dropFirst().first
        #expect(result?["outcome"]?.string == "let-through", "\(run.output) \(run.errors)")
        #expect(result?["requestBytes"]?.integer == 1_080)
        // A client that does not follow the redirect is blocked.
        let twin = ToolRun(
            arguments: RehearseTests.rehearse + ["--json", "--only", "redirect-to-http", "--"] + Self.good)
        let blocked = try #require(try twin.json().elements.map(Array.init)).dropFirst().first
        #expect(twin.code == 0)
        #expect(blocked?["outcome"]?.string == "blocked")
        #expect(blocked?["remark"]?.string == "it did not follow")
    }

    @Test(
        "A client that is killed within the handshake at the place of a redirect has no verdict, unless it has refused",
        arguments: [true, false])
    func killedAfterRedirect(hasEnded: Bool) throws {
        let script = """
            import re, socket, ssl, sys, time
            url, ca, end = sys.argv[1:]
            context = ssl.create_default_context(cafile=ca)
            port = int(re.search(r":(\\d+)/", url).group(1))
            with context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost") as stream:
                stream.sendall(b"GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
                place = re.search(rb"https://127.0.0.1:(\\d+)/", stream.recv(4096))
            if place:
                second = socket.create_connection(("127.0.0.1", int(place.group(1))))
                if end == "true":
                    # Without the authority, the client refuses with an alert.
                    try: ssl.create_default_context().wrap_socket(second, server_hostname="127.0.0.1")
                    except ssl.SSLError: second.close()
                else:
                    second.sendall(b"\\x16\\x03\\x01\\x02\\x00\\x01")
            time.sleep(100)
            """
        let file = try directory.write(script, to: "client.py")
        let run = ToolRun(
            arguments: ["rehearse", "--timeout", "4", "--json", "--only", "redirect-to-unpinned-host", "--", "python3"]
                + [file, "{url}", "{ca}", "\(hasEnded)"])
        let attack = try #require(try run.json().elements.map(Array.init)).dropFirst().first
        #expect(attack?["outcome"]?.string == (hasEnded ? "blocked" : "inconclusive"), "\(run.output) \(run.errors)")
        #expect(attack?["remark"]?.string == (hasEnded ? nil : "killed after 4 s; no verdict"))
        #expect(run.code == (hasEnded ? 0 : 1))
    }

    @Test("The last lines of a client are its last ones, however much it wrote before")
    func lastLines() {
        let shell = "seq 100000 130000 >&2; echo 'no room left on the disk' >&2; exit 3"
        let run = ToolRun("rehearse", "--only", "expired", "--", "sh", "-c", shell, "sh", "{url}")
        #expect(run.code == 2)
        #expect(run.errors.contains("\n  130000\n  no room left on the disk\n"), "\(run.errors)")
    }

    @Test("A client that sends the right server plain HTTP is told so, and one that refuses it the other reason")
    func plainHTTP() {
        let plain = ToolRun("rehearse", "--only", "expired", "--", "curl", "-sS", "-m", "12", "http://{host}:{port}/")
        #expect(plain.code == 2)
        #expect(plain.errors.contains("the client sent the right server its request without TLS"), "\(plain.errors)")
        #expect(plain.errors.contains("{url} begins with https") && !plain.errors.contains("refused even"))
        let refusing = ToolRun("rehearse", "--only", "expired", "--", "curl", "-sS", "-m", "12", "{url}")
        #expect(refusing.code == 2)
        #expect(refusing.errors.contains("the client refused even the valid server"), "\(refusing.errors)")
    }

    @Test("A client that ends at the right server without an alert has an inconclusive control, and is not refused")
    func inconclusiveControl() throws {
        // The client's own time-out ends the handshake, or it refuses the certificate with alert 42.
        let client = """
            import re, socket, ssl, sys
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
            stream = socket.create_connection(("127.0.0.1", int(re.search(r":(\\d+)/", sys.argv[1])[1])))
            try: tls.do_handshake()
            except ssl.SSLWantReadError: stream.sendall(outgoing.read())
            stream.recv(65536)
            if sys.argv[2] != "0": stream.sendall(bytes([21, 3, 3, 0, 2, 2, int(sys.argv[2])]))
            stream.close()
            sys.exit(28)
            """
        let file = try directory.write(client, to: "gives-up.py")
        let inconclusive = "the control is inconclusive: the client sent the valid server no request, and it ended "
        for (words, isUntold) in [(["{url}"], true), (["{url}", "{ca}"], false)] {
            func run(_ alert: String) -> ToolRun {
                ToolRun(
                    arguments: ["rehearse", "--only", "expired", "--", "python3", file, words[0], alert]
                        + words.dropFirst())
            }
            let gone = run("0")
            #expect(gone.code == 2)
            #expect(gone.errors.contains(inconclusive) && !gone.errors.contains("refused"), "\(gone.errors)")
            #expect(gone.errors.contains("a longer time-out of its own"))
            #expect(gone.errors.contains("{ca} is their file") == isUntold)
            let refusing = run("42")
            #expect(refusing.code == 2)
            #expect(refusing.errors.contains("the client refused even the valid server"), "\(refusing.errors)")
            #expect(!refusing.errors.contains("inconclusive"))
        }
    }

    @Test("An open connection gives no verdict")
    func openConnection() throws {
        let script = """
            import os, re, socket, sys
            port = int(re.search(r":(\\d+)/", sys.argv[1]).group(1))
            stream = socket.create_connection(("127.0.0.1", port))
            if os.fork() == 0:
                os.setsid()
                for number in range(3): os.close(number)
                stream.recv(1)
            """
        let file = try directory.write(script, to: "client.py")
        let run = run(shell: "\"$@\" || python3 \(file) \"$8\"")
        #expect(run.code == 1)
        #expect(run.output.contains("a connection was still open"), "\(run.output) \(run.errors)")
        #expect(self.run(shell: "\"$@\" || true").code == 0)
    }

    @Test("A run without an attack proves nothing")
    func nothingRun() {
        let control = run(only: "control", shell: "exec \"$@\"")
        #expect(control.code == 2)
        #expect(control.errors.contains("proves nothing: no attack was run"))
        let silent = ToolRun(
            arguments: RehearseTests.rehearse + ["--only", "redirect-to-http", "--", "openssl", "s_client"]
                + ["-connect", "{host}:{port}"])
        #expect(silent.code == 2)
        #expect(silent.errors.contains("this client sends no request"), "\(silent.errors)")
    }

    @Test("A server that stalls gives no verdict unless the client gives up by itself")
    func stall() throws {
        let options = ["--only", "stall-mid-handshake", "--timeout", "2.5", "--"]
        let patient = ToolRun(arguments: ["rehearse"] + options + ["curl", "-sS", "--cacert", "{ca}", "{url}"])
        #expect(patient.code == 1)
        #expect(patient.output.contains("inconclusive"))
        #expect(patient.output.contains("killed after 2.5 s; no verdict"))
        #expect(patient.output.contains("next: 1. does the client end by a time-out of its own? if it does, run it"))
        let hasty = ToolRun(
            arguments: RehearseTests.rehearse + ["--only", "stall-mid-handshake", "--", "curl", "-sS", "-m", "2"]
                + ["--cacert", "{ca}", "{url}"])
        #expect(hasty.code == 0, "\(hasty.output)")
    }

    @Test("A client that gave up by its own time-out before it was killed is not advised to have one")
    func ownTimeout() {
        let curl = ["sh", "-c", "\"$@\" || sleep 60", "sh", "curl", "-sS", "--cacert", "{ca}", "{url}"]
        func run(_ options: [String]) -> ToolRun {
            ToolRun(
                arguments: ["rehearse", "--timeout", "6", "--only", "stall-mid-handshake", "--"] + curl + options)
        }
        let advice = "a time-out of its own"
        let given = run(["-m", "1"])
        #expect(given.code == 1 && given.output.contains("it may have tried again"), "\(given.output)")
        #expect(!given.output.contains(advice) && given.output.contains("next: 1. give it more time with --timeout\n"))
        let missing = run([])
        #expect(missing.code == 1 && missing.output.contains("killed after 6 s"), "\(missing.output)")
        #expect(missing.output.contains(advice))
    }

    @Test("A rehearsal ignores proxies in the environment")
    func proxies() {
        #expect(run(shell: "test -z \"$https_proxy$HTTPS_PROXY$ALL_PROXY\" && exec \"$@\"").code == 0)
    }

    @Test("A retry after a 401 is a separate attack")
    func retry() throws {
        let client = RehearseTests.curl + ["--anyauth", "-u", "user:secret"]
        let options = RehearseTests.rehearse + ["--json", "--only", "retry-after-401", "--"]
        let careless = ToolRun(arguments: options + client + ["{url}"])
        #expect(try RehearseTests.outcomes(careless)["retry-after-401"] == "let-through")
        let pinned = ToolRun(arguments: options + client + ["--pinnedpubkey", "{pins}", "{url}"])
        #expect(try RehearseTests.outcomes(pinned)["retry-after-401"] == "blocked")
    }

    @Test("The list names each attack, its standard and its importance")
    func list() throws {
        let list = ToolRun("rehearse", "--list")
        #expect(list.code == 0)
        #expect(list.lines.allSatisfy { $0.count <= 80 })
        let entries = try #require(try ToolRun("rehearse", "--list", "--json").json().elements.map(Array.init))
        #expect(entries.count >= 31)
        for entry in entries {
            let agreed = ["id", "expected", "reference", "summary", "why", "group", "cwe", "owasp"]
            #expect(ToolRun.keys(entry) == agreed.filter { $0 != "group" || entry["id"]?.string != "control" })
            #expect(list.output.contains(try #require(entry["id"]?.string)))
        }
        #expect(Set(entries.compactMap { $0["id"]?.string }).count == entries.count)
    }
}

/// A process that is not a child of this one.
enum RunningProcess {
    /// Returns `true` if the process runs. A zombie does not count: its new parent may not have waited for it yet.
    static func runs(_ process: Int32) -> Bool {
        guard let status = try? runProcess(["cat", "/proc/\(process)/stat"]), status.status == 0 else { return false }
        return !status.output.contains(") Z ")
    }
}
