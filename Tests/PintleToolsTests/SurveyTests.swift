import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleTools

/// The connections of real clients, seen through the proxy of a survey.
@Suite("Survey")
struct SurveyTests {
    private let fixture: SurveyFixture

    init() throws {
        fixture = try SurveyFixture()
    }

    private static let (trusting, pinning) = (SurveyFixture.trusting, SurveyFixture.pinning)

    @Test("A connection without a pin is unpinned over HTTP/2, HTTP/1.1 and SOCKS, at names, addresses and other ports")
    func unpinned() throws {
        let run = SurveyFixture.run(
            "--json",
            script: """
                \(Self.trusting) -X POST -d secret 'https://telemetry.example.net/v1/traces/4711?token=secret'
                \(Self.trusting) --http1.1 https://api.example.net:8443/
                \(Self.trusting) --socks5-hostname 127.0.0.1:$2 https://socks.example.net/
                \(Self.trusting) 'https://[2001:db8::1]/' https://192.0.2.7/ -o /dev/null
                """)
        #expect(run.code == 0, "\(run.output) \(run.errors)")
        #expect(
            try SurveyFixture.answers(run) == [
                "telemetry.example.net:443": "unpinned", "api.example.net:8443": "unpinned",
                "socks.example.net:443": "unpinned", "2001:db8::1:443": "unpinned", "192.0.2.7:443": "unpinned",
            ], "\(run.output)")
        let host = try #require(try SurveyFixture.hosts(run)["telemetry.example.net:443"])
        #expect(host["knownAuthority"]?["letThrough"]?.integer == 2)
        #expect(host["unknownAuthority"]?["refused"]?.integer == 2)
        #expect(host["requests"]?.elements?.compactMap(\.string) == ["POST /v1/traces/…?…"])
        #expect((host["requestBytes"]?.integer ?? 0) > 0)
        #expect(!run.output.contains("secret") && !run.output.contains("4711"))
    }

    @Test("A client that names another host in its ClientHello than to the proxy is not taken for a pinned one")
    func fronted() throws {
        let run = SurveyFixture.run(
            "--json",
            script: """
                \(Self.trusting) https://good.example/
                \(Self.trusting) --connect-to api.example.com:443:edge.example.net:443 https://api.example.com/
                """)
        #expect(
            try SurveyFixture.answers(run) == ["good.example:443": "unpinned", "edge.example.net:443": "unpinned"],
            "\(run.output)")
    }

    @Test("The control at the right server is about its port only")
    func controlledPort() throws {
        let run = SurveyFixture.run(
            "--json", "--host", "api.example.com",
            script: "\(Self.trusting) https://api.example.com/\n"
                + "curl -sS -m 20 -o /dev/null https://api.example.com:8443/")
        let answers = try SurveyFixture.answers(run)
        #expect(
            answers["api.example.com:443"] == "unpinned" && answers["api.example.com:8443"] == "refused", "\(answers)")
    }

    @Test("A refusal counts as pinned only if the same ClientHello accepted the authority at another host")
    func control() throws {
        let pinned = "\(Self.pinning) https://api.example.com/\n"
        let alone = SurveyFixture.run("--json", script: pinned)
        #expect(try SurveyFixture.answers(alone) == ["api.example.com:443": "refused"], "\(alone.output)")
        let controlled = SurveyFixture.run("--json", script: pinned + "\(Self.trusting) https://cdn.example.com/")
        #expect(
            try SurveyFixture.answers(controlled)
                == ["api.example.com:443": "pinned", "cdn.example.com:443": "unpinned"], "\(controlled.output)")
        // The other client offers other versions of HTTP.
        let other = SurveyFixture.run("--json", script: pinned + "\(Self.trusting) --http1.1 https://cdn.example.com/")
        #expect(try SurveyFixture.answers(other)["api.example.com:443"] == "refused", "\(other.output)")
        // Another port of the host may belong to another client.
        let port = SurveyFixture.run("--json", script: pinned + "\(Self.trusting) https://api.example.com:8443/")
        #expect(try SurveyFixture.answers(port)["api.example.com:443"] == "refused", "\(port.output)")
    }

    @Test(
        "A client with roots of its own is not called pinned, although the same stack accepts the authority elsewhere")
    func ownRoots() throws {
        let run = SurveyFixture.run(
            script: """
                curl -sS -m 20 -o /dev/null https://roots.example.com/
                \(Self.trusting) https://cdn.example.com/
                """)
        #expect(run.code == 0)
        #expect(run.output.contains("\n  roots.example.com:443              refused "), "\(run.output)")
        let words = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words.contains("pinned, or this client does not trust the survey's authority; alert unknown_ca (48)"))
        #expect(words.contains("refused: pinned, or the client does not trust \"Survey Root "))
    }

    @Test("A host that two stacks share is reported with the handshakes of each")
    func bothStacks() throws {
        let run = SurveyFixture.run(
            "--json",
            script: """
                \(Self.trusting) https://api.example.com/
                \(Self.pinning) --http1.1 https://api.example.com/
                """)
        let host = try #require(try SurveyFixture.hosts(run)["api.example.com:443"])
        #expect(host["answer"]?.string == "both")
        #expect(
            host["knownAuthority"]?["letThrough"]?.integer == 2 && host["knownAuthority"]?["refused"]?.integer == 2)
        let stacks = try #require(host["stacks"]?.elements.map { Array($0) })
        #expect(stacks.map { $0["refused"]?.integer } == [0, 2], "\(run.output)")
        #expect(stacks.last?["alpn"]?.elements?.compactMap(\.string) == ["http/1.1"])
    }

    @Test("A client that accepts an unknown authority, or sends plain HTTP, is a finding without any other option")
    func readableByAnyone() throws {
        let blind = SurveyFixture.run("--json", script: "curl -sS -k -m 20 https://a.example/ https://a.example/")
        #expect(try SurveyFixture.answers(blind) == ["a.example:443": "any-certificate"])
        #expect(blind.code == 1)
        let plain = SurveyFixture.run("--json", script: "curl -sS -m 20 http://a.example/v1/users/7")
        let host = try #require(try SurveyFixture.hosts(plain)["a.example:80"])
        #expect(host["answer"]?.string == "plain-http" && host["plainConnections"]?.integer == 1)
        #expect(host["requests"]?.elements?.compactMap(\.string) == ["GET /v1/users/…"])
        #expect(plain.code == 1)
    }

    @Test("Other protocols are named by their first bytes, and a tunnel without a byte is no TLS")
    func withoutTLS() throws {
        let run = SurveyFixture.run(
            "--json",
            script: SurveyFixture.tunnel("ssh.example:22", sending: "SSH-2.0-x\\r\\n")
                + SurveyFixture.tunnel("odd.example:7", sending: "\\001\\002secret")
                + SurveyFixture.tunnel("idle.example:443", sending: "")
                + SurveyFixture.tunnel(
                    "http.example:443", sending: "GET / HTTP/1.1\\r\\nHost: http.example\\r\\n\\r\\n"))
        let hosts = try SurveyFixture.hosts(run)
        #expect(hosts["ssh.example:22"]?["otherProtocols"]?.elements?.compactMap(\.string) == ["SSH"], "\(run.output)")
        #expect(hosts["odd.example:7"]?["answer"]?.string == "other-protocol")
        #expect(hosts["odd.example:7"]?["otherProtocols"]?.elements?.compactMap(\.string) == ["bytes 01027365"])
        #expect(hosts["idle.example:443"]?["answer"]?.string == "no-tls")
        #expect(hosts["http.example:443"]?["answer"]?.string == "plain-http")
    }

    @Test("A request without TLS is plain HTTP in pieces and in HTTP/2 too, and user information is not shown")
    func plainPieces() throws {
        let pieces = "GE\" >&3; sleep 0.3; printf \"T / HTTP/1.1\\r\\n\\r\\n"
        let run = SurveyFixture.run(
            "--json",
            script: SurveyFixture.tunnel("slow.example:80", sending: pieces)
                + SurveyFixture.tunnel("two.example:80", sending: "PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n")
                + SurveyFixture.tunnel("user:secret@user.example:80", sending: "GET / HTTP/1.1\\r\\n\\r\\n")
                + SurveyFixture.tunnel("low.example:80", sending: "\\r\\nget /x HTTP/1.1\\r\\n\\r\\n")
                + "curl -sS -m 20 -x http://127.0.0.1:$2 -u user:secret ftp://ftp.example/ || true\n"
                + "curl -sS -m 20 --noproxy '*' 'http://127.0.0.1:'$2'/login?next=https://query.example/secret' || true\n"
                + "curl -sS -m 20 -x http://127.0.0.1:$2 --request-target http://user:se/secret@cut.example/ http://x/ || true\n"
        )
        #expect(
            try SurveyFixture.answers(run) == [
                "slow.example:80": "plain-http", "two.example:80": "plain-http", "user.example:80": "plain-http",
                "low.example:80": "plain-http", "ftp.example:21": "plain-http",
            ], "\(run.output)")
        #expect(!run.output.contains("secret"))
    }

    @Test("A connection that is open when the survey ends is reported, also in the middle of its first bytes")
    func unfinished() throws {
        let run = SurveyFixture.run(
            "--json",
            script: ["", "GE", "\\026\\003\\001\\002"].enumerated().map { number, text in
                """
                # The tool ends what the client leaves behind in its own session.
                setsid bash -c 'exec 3<>/dev/tcp/127.0.0.1/$0
                printf "CONNECT idle\(number).example:443 HTTP/1.1\\r\\n\\r\\n" >&3; sleep 0.1; printf "\(text)" >&3
                sleep 8' "$2" >/dev/null 2>&1 &

                """
            }.joined() + "sleep 0.5")
        let hosts = try SurveyFixture.hosts(run)
        #expect(hosts.count == 3)
        for host in hosts.values {
            #expect(host["answer"]?.string == "silent" && (host["unfinished"]?.integer ?? 0) > 0, "\(run.output)")
        }
    }

    @Test(
        "A client without a pin is not called pinned because the tool has ended its idle connection",
        arguments: [true, false])
    func cutRun(isLeftBehind: Bool) throws {
        let sent = fixture.directory.path(of: "sent")
        let script = try fixture.directory.write(
            """
            import os, socket, ssl, sys, time
            ca, port, sent = sys.argv[1:]
            plain = socket.create_connection(("127.0.0.1", int(port)))
            plain.sendall(b"CONNECT api.example.com:443 HTTP/1.1\\r\\n\\r\\n")
            while b"\\r\\n\\r\\n" not in plain.recv(4096): pass
            try:
                tls = ssl.create_default_context(cafile=ca).wrap_socket(plain, server_hostname="api.example.com")
            except ssl.SSLError:
                sys.exit(0)
            if os.path.exists(sent): time.sleep(100)
            open(sent, "w").close()
            tls.sendall(b"GET / HTTP/1.1\\r\\nHost: api.example.com\\r\\n\\r\\n")
            tls.recv(4096)

            """, to: "slow.py")
        let run = ToolRun(
            arguments: [
                "rehearse", "--proxy", "--survey", "--json", "--timeout", "3", "--host", "api.example.com", "--",
            ]
                + (isLeftBehind ? ["sh", "-c", "\"$@\" & sleep 2", "sh"] : [])
                + ["python3", script, "{ca}", "{proxy-port}", sent])
        let host = try #require(try SurveyFixture.hosts(run)["api.example.com:443"])
        #expect(host["answer"]?.string == "silent" && (host["unfinished"]?.integer ?? 0) > 0, "\(run.output)")
    }

    @Test("A host with pinned connections and others that are no TLS is not called pinned")
    func pinnedAndForeign() throws {
        let client =
            "\(Self.pinning) https://api.example.com/ || true\n\(Self.trusting) https://cdn.example.com/\n"
            + SurveyFixture.tunnel("api.example.com:443", sending: "\\001login")
        let run = SurveyFixture.run(script: client)
        let words = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("api.example.com:443 other protocol 0 2 of 2 refused"), "\(run.output)")
        #expect(words.contains("bytes 016c6f67") && words.contains("not judged: api.example.com:443"))
        let file = try fixture.directory.write("*.example.com pinned\ncdn.example.com unpinned\n", to: "expected")
        #expect(SurveyFixture.run("--expect", file, script: client).code == 1)
        let pinned = "\(Self.pinning) https://api.example.com/ || true\n\(Self.trusting) https://cdn.example.com/"
        #expect(SurveyFixture.run("--expect", file, script: pinned).code == 0)
    }

    @Test("A web socket is opened and closed, and marked")
    func webSocket() throws {
        let run = SurveyFixture.run(
            "--json",
            script: """
                \(Self.trusting) --http1.1 -H 'Connection: Upgrade' -H 'Upgrade: websocket' -H 'Sec-WebSocket-Version: 13' \
                -H 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==' https://live.example/socket
                """)
        let host = try #require(try SurveyFixture.hosts(run)["live.example:443"])
        #expect(host["answer"]?.string == "unpinned")
        #expect(host["requests"]?.elements?.compactMap(\.string) == ["GET /socket, web socket"], "\(run.output)")
    }

    @Test("A client that stops at its first refused connection meets both authorities at every host all the same")
    func stoppingClient() throws {
        let run = SurveyFixture.run(
            "--json",
            script: "\(Self.trusting) https://a.example/ && \(Self.trusting) https://b.example/ && exit 0")
        for host in try SurveyFixture.hosts(run).values {
            #expect(host["answer"]?.string == "unpinned" && host["notAskedAgain"]?.boolean == false, "\(run.output)")
        }
        #expect(try SurveyFixture.answers(run).count == 2)
    }

    @Test("A client that brings a new host in each run is surveyed in parts, which the report says")
    func runLimit() throws {
        let file = fixture.directory.path(of: "runs")
        let script = "n=$(cat \(file) 2>/dev/null || echo 0); n=$((n + 1)); echo $n >\(file)\n"
        let endless = SurveyFixture.run(script: script + "\(Self.trusting) https://h$n.example/")
        let words = endless.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words.contains("24 runs were not enough to meet each authority twice at every host: survey parts"),
            "\(endless.output)")
        #expect(!words.contains("repeat the client's steps") && endless.code == 0)
        let once = SurveyFixture.run(
            script: "[ -e \(file)-once ] || { touch \(file)-once; \(Self.trusting) https://once.example/; }")
        let twin = once.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(twin.contains("repeat the client's steps") && !twin.contains("not enough"), "\(once.output)")
    }

    @Test("A survey of a client that does not accept the right server warns that its refusals may be no pins")
    func refusedRightServer() {
        let warning = "the client did not accept the right server of api.example.com: its refusals there are not known"
        for (script, isAccepted) in [("curl -sS -m 20 -o /dev/null", false), (Self.trusting, true)] {
            let run = SurveyFixture.run("--host", "api.example.com", script: "\(script) https://api.example.com/")
            let words = run.errors.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(run.code == 0 && words.contains(warning) != isAccepted, "\(run.errors)")
        }
    }

    @Test("A client that only finishes handshakes, also with the right server, is not called pinned")
    func handshakeOnly() throws {
        let handshake =
            "openssl s_client -proxy 127.0.0.1:$2 -connect api.example.com:443 -CAfile \"$1\" -verify_return_error "
            + "</dev/null >/dev/null 2>&1\n"
        let run = SurveyFixture.run("--json", "--host", "api.example.com", script: handshake)
        let host = try #require(try SurveyFixture.hosts(run)["api.example.com:443"])
        #expect(host["answer"]?.string == "handshake-only", "\(run.output)")
        // Without the control, the client may be one that refuses.
        let unnamed = SurveyFixture.run("--json", script: handshake)
        #expect(try SurveyFixture.answers(unnamed) == ["api.example.com:443": "refused"], "\(unnamed.output)")
    }

    /// A client that pins one host and not the other, and gives up the second connection when the first is refused.
    private static let giveUp = """
        import socket, ssl, sys
        ca, port, way = sys.argv[1:]
        def tunnel(host):
            plain = socket.create_connection(("127.0.0.1", int(port)))
            plain.sendall(f"CONNECT {host}:443 HTTP/1.1\\r\\n\\r\\n".encode())
            while b"\\r\\n\\r\\n" not in plain.recv(4096): pass
            return plain
        def connect(host, context):
            return context.wrap_socket(tunnel(host), server_hostname=host)
        def ask(tls, host):
            tls.sendall(f"GET / HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n".encode())
            tls.recv(4096)
        other = ssl.create_default_context(cafile=ca)
        if way == "any": other.check_hostname, other.verify_mode = False, ssl.CERT_NONE
        host, late = "telemetry.example.net", way in ("tunnel", "later")
        warm = None if way == "later" else tunnel(host)
        if not late: warm = other.wrap_socket(warm, server_hostname=host)
        try:
            api = connect("api.example.com", ssl.create_default_context(cafile=ca))
            if b"Survey Root" in api.getpeercert(True): raise ssl.SSLError()
            ask(api, "api.example.com")
        except ssl.SSLError:
            if way == "unwrap":
                try: warm.unwrap()
                except OSError: pass
            sys.exit(1)
        if late: warm = other.wrap_socket(warm or tunnel(host), server_hostname=host)
        ask(warm, host)
        """

    @Test(
        "A host that the client gave up, or did not ask for, because another was refused is judged without that one",
        arguments: ["tunnel", "later"])
    func notReached(way: String) throws {
        let script = try fixture.directory.write(Self.giveUp, to: "two.py")
        let run = ToolRun(
            arguments: [
                "rehearse", "--proxy", "--survey", "--timeout", "60", "--json", "--host", "api.example.com", "--host",
                "telemetry.example.net", "--", "python3", script, "{ca}", "{proxy-port}", way,
            ])
        #expect(try SurveyFixture.answers(run)["telemetry.example.net:443"] == "unpinned", "\(run.output)")
    }

    @Test(
        "A connection that was given up because another host was refused is judged without it, and is not called pinned",
        arguments: [("keep", "unpinned"), ("unwrap", "unpinned"), ("any", "any-certificate")])
    func givenUp(way: String, answer: String) throws {
        let script = try fixture.directory.write(Self.giveUp, to: "two.py")
        func run(_ hosts: [String], _ options: [String] = ["--json"]) -> ToolRun {
            ToolRun(
                arguments: ["rehearse", "--proxy", "--survey", "--timeout", "60"] + options
                    + hosts.flatMap { ["--host", $0] } + ["--", "python3", script, "{ca}", "{proxy-port}", way])
        }
        let named = run(["api.example.com", "telemetry.example.net"])
        let answers = try SurveyFixture.answers(named)
        #expect(answers["telemetry.example.net:443"] == answer, "\(named.output)")
        // The other connection is never answered when this host is refused, and there is no alert.
        #expect(answers["api.example.com:443"] == "inconclusive", "\(named.output)")
        // Without the name of the pinned host no run can answer it, so there is no verdict, and nothing to record.
        let file = fixture.directory.path(of: "expected")
        let unnamed = run([], ["--expect", file, "--record"])
        #expect(unnamed.code == 1)
        #expect(unnamed.output.contains("telemetry.example.net:443          inconclusive"), "\(unnamed.output)")
        #expect(!String(decoding: try fixture.directory.read("expected"), as: UTF8.self).contains("\ntelemetry"))
        let (xml, sarif) = (fixture.directory.path(of: "r.xml"), fixture.directory.path(of: "r.sarif"))
        #expect(run([], ["--json", "--junit", xml, "--sarif", sarif]).code == 1)
        #expect(String(decoding: try fixture.directory.read("r.xml"), as: UTF8.self).contains("<error message"))
        #expect(String(decoding: try fixture.directory.read("r.sarif"), as: UTF8.self).contains("\"inconclusive\""))
    }

    @Test("A host that the client asks for once is not asked again, which the report says")
    func askedOnce() throws {
        let marker = fixture.directory.path(of: "was-asked")
        let run = SurveyFixture.run(
            "--json",
            script: """
                \(Self.trusting) https://often.example/
                [ -e \(marker) ] || { touch \(marker); \(Self.trusting) https://once.example/; }
                """)
        let hosts = try SurveyFixture.hosts(run)
        #expect(hosts["once.example:443"]?["notAskedAgain"]?.boolean == true, "\(run.output)")
        #expect(hosts["often.example:443"]?["notAskedAgain"]?.boolean == false)
    }

    @Test("Hostile names are escaped, and are judged like others")
    func hostileNames() throws {
        let long = String(repeating: "a.", count: 149) + "io"
        let run = SurveyFixture.run(
            script: SurveyFixture.tunnel("e\\033[31m.example:443", sending: "SSH-2.0")
                + "\(Self.trusting) --connect-to ::x: https://\(long)/ || true\n"
                + SurveyFixture.tunnel("\(long):443", sending: "SSH-2.0"))
        #expect(run.output.contains("\n  e\\u{1B}[31m.example:443"), "\(run.output)")
        #expect(run.output.contains("\n  \(long):443"))
        #expect(!run.output.contains("\u{1B}"))
    }

    @Test("The first line says what a proxy cannot see, and no line is about devices, which cannot reach the proxy")
    func firstLine() throws {
        let run = SurveyFixture.run(script: "\(Self.trusting) https://a.example/")
        let words = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(
            words.hasPrefix("only connections through the proxy were seen; to find stacks that ignore it: --host NAME ")
        )
        #expect(words.contains("--resolve-by hosts") && words.contains("a firewall"))
        #expect(!run.output.contains("remove \"") && !run.output.contains("every device"), "\(run.output)")
        #expect(run.lines.allSatisfy { $0.count <= 80 }, "\(run.output)")
    }

    @Test("A client that does not use the proxy proves nothing")
    func unusedProxy() throws {
        let run = SurveyFixture.run("--json", script: "curl -sS -m 20 --noproxy '*' https://localhost:1/")
        #expect(run.code == 2)
        #expect(try run.json()["error"]?["code"]?.string == "proxy-not-used")
        let silent = SurveyFixture.run("--json", script: "bash -c 'exec 3<>/dev/tcp/127.0.0.1/$0' \"$2\"")
        #expect(silent.code == 2)
        #expect(silent.output.contains("it asked for no host that this proxy understands"), "\(silent.output)")
    }

    @Test("Options that do not fit together are refused before anything runs")
    func usage() {
        let client = ["--", "curl", "{ca}"]
        for (options, message) in [
            (["--survey"] + client, "--survey goes with --proxy"),
            (["--proxy", "--survey"], "CLIENT is missing"),
            (["--proxy", "--survey", "--serve"] + client, "--serve runs no client"),
            (["--proxy", "--survey", "--serve", "--host", "a.test"], "--host goes with CLIENT"),
            (["--proxy", "--survey", "--only", "expired"] + client, "--only does not go with --survey"),
            (["--proxy", "--host", "a.test", "--expect", "f"] + client, "--expect goes with --survey"),
            (["--proxy", "--survey", "--record"] + client, "--record goes with --expect"),
            (["--proxy", "--survey", "--serve", "--listen", "192.0.2.7"], "needs --from ADDRESS"),
            (["--proxy", "--survey", "--serve", "--listen", "192.0.2.7", "--from", "x"], "--from takes an address"),
            (["--proxy", "--survey", "--from", "192.0.2.20"] + client, "--from goes with --listen"),
            (["--proxy", "--survey", "--serve", "--listen", "::1", "--from", "192.0.2.20"], "of one family"),
            (["--proxy", "--survey", "--listen", "0.0.0.0"] + client, "--listen takes one address"),
            (["--proxy", "--survey", "--answers", "/no/such"] + client, "it is not a folder"),
            (["--proxy", "--survey", "--json", "--as", "policy"] + client, "--as does not go with --json"),
        ] {
            let run = ToolRun(arguments: ["rehearse"] + options)
            #expect(run.code == 2)
            #expect(run.errors.contains(message), "\(options): \(run.errors)")
        }
    }
}
