import Glibc
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// Real clients against the catalogue of attacks. The bytes that the servers got decide.
@Suite("Rehearsal")
struct RehearseTests {
    /// Returns the outcomes by id, including the control and the attacks that are never run.
    static func outcomes(_ run: ToolRun) throws -> [String: String] {
        var outcomes: [String: String] = [:]
        for result in try #require(try run.json().elements) {
            outcomes[try #require(result["id"]?.string)] = result["outcome"]?.string
        }
        return outcomes
    }

    /// The time limit is long, so that a busy machine can meet it.
    static let rehearse = ["rehearse", "--timeout", "30"]
    /// With `--compressed`, curl refuses `stacked-encodings` at once.
    static let curl = ["curl", "-sS", "--compressed", "-m", "12", "--cacert", "{ca}"]
    /// The groups without servers that hold the client for all of its time-out.
    static let quickGroups = ["--group", "path,pins,names,transport,redirect"]
    static let neverRun: Set = [
        "resumed-session-after-policy-change", "connection-kept-after-policy-change", "approved-server-changed",
    ]
    /// The attack on clients that get `{identity}`.
    static let asking = "interceptor-asks-for-identity"
    static let changes: Set = ["renewed-same-key", "rotated-to-backup-key", "cross-signed"]
    /// The attacks that a client lets through if it validates but does not pin.
    static let interceptions: Set = [
        "trusted-interceptor", "copied-certificate", "ten-year-leaf", "pin-appended-to-foreign-path",
        "pinned-intermediate-off-path", "rotated-to-unknown-key",
        // curl falls back to the common name.
        "cn-only",
    ]
    /// The attack that curl also lets through over HTTP/2. It does not send a request again after GOAWAY.
    static let moves: Set = ["refused-stream-moves-request"]

    static func ids(_ outcomes: [String: String], _ outcome: String) -> Set<String> {
        Set(outcomes.filter { $0.value == outcome }.keys)
    }

    @Test("curl without pins lets through exactly the attacks whose certificates a trusted authority signed")
    func validatingClient() throws {
        let run = ToolRun(arguments: Self.rehearse + Self.quickGroups + ["--json", "--"] + Self.curl + ["{url}"])
        #expect(run.code == 1)
        let outcomes = try Self.outcomes(run)
        #expect(outcomes.count >= 37)
        #expect(Self.ids(outcomes, "let-through") == Self.interceptions.union(Self.moves))
        #expect(Self.ids(outcomes, "accepted") == Self.changes.union(["control"]))
        #expect(Self.ids(outcomes, "inconclusive").isEmpty)
        #expect(Self.ids(outcomes, "not-run") == Self.neverRun.union(["coalesced-connection", Self.asking]))
    }

    @Test("curl with both pins lets nothing through, and no change of the server locks it out")
    func pinningClient() throws {
        let run = ToolRun(
            arguments: Self.rehearse + ["--json", "--"] + Self.curl + ["--pinnedpubkey", "{pins}", "{url}"])
        #expect(run.code == 0, "\(run.output) \(run.errors)")
        let outcomes = try Self.outcomes(run)
        #expect(outcomes.count >= 41)
        #expect(Self.ids(outcomes, "ended") == ["name-constraint-bomb", "stacked-encodings"])
        #expect(Self.ids(outcomes, "accepted") == Self.changes.union(["control"]))
        #expect(Self.ids(outcomes, "let-through").isEmpty && Self.ids(outcomes, "inconclusive").isEmpty)
    }

    @Test("With one pin, the backup key locks the client out, and the advice names the placeholder")
    func withoutBackup() throws {
        let run = ToolRun(
            arguments: Self.rehearse + ["--only", "rotated-to-backup-key,renewed-same-key", "--"] + Self.curl
                + ["--pinnedpubkey", "{pin}", "{url}"])
        #expect(run.code == 1)
        #expect(run.output.contains("\n  rotated-to-backup-key         accepted  blocked"))
        #expect(run.output.contains("1 as they must be, 1 wrongly blocked, "))
        #expect(run.output.contains("next: 1. the command line has no backup pin: {backup} is one"))
    }

    @Test("A client that validates nothing lets through every attack that it can complete")
    func blindClient() throws {
        let run = ToolRun(
            arguments: Self.rehearse + Self.quickGroups + [
                "--json", "--", "curl", "-sS", "--compressed", "-k", "-L", "-m", "12", "{url}",
            ])
        #expect(run.code == 1)
        let outcomes = try Self.outcomes(run)
        let blocked = Self.ids(outcomes, "blocked")
        // No client can finish these, or OpenSSL itself refuses them. And curl without a password does not retry after
        // a 401, or after GOAWAY.
        #expect(
            blocked.isSubset(of: [
                "garbage-der", "oversized-chain", "stall-mid-handshake", "tls-1.0", "tls-1.1", "retry-after-401",
                "weak-key", "sha1-signature", "goaway-moves-request",
            ]), "\(blocked)")
        #expect(Self.ids(outcomes, "let-through").isSuperset(of: Self.interceptions))
        #expect(outcomes["redirect-to-http"] == "let-through")
        #expect(outcomes["redirect-to-unpinned-host"] == "let-through")
        #expect(run.errors.isEmpty)
    }

    @Test("A client that only makes a handshake is judged by its exit code")
    func silentClient() throws {
        let attacks = "trusted-interceptor,untrusted-ca,renewed-same-key,redirect-to-http"
        let client = ["openssl", "s_client", "-connect", "{host}:{port}", "-servername", "{host}"]
        let blind = ToolRun(arguments: Self.rehearse + ["--json", "--only", attacks, "--"] + client)
        #expect(blind.code == 1)
        #expect(
            try Self.outcomes(blind).filter { !Self.neverRun.contains($0.key) } == [
                "control": "accepted", "trusted-interceptor": "let-through", "untrusted-ca": "let-through",
                "renewed-same-key": "accepted", "redirect-to-http": "not-run",
            ])
        let strict = ToolRun(
            arguments: Self.rehearse + ["--json", "--only", attacks, "--"] + client
                + ["-CAfile", "{ca}", "-verify_return_error", "-verify_hostname", "{host}"])
        #expect(try Self.outcomes(strict)["untrusted-ca"] == "blocked")
        #expect(try Self.outcomes(strict)["trusted-interceptor"] == "let-through")
    }

    @Test("A client that refuses everything proves nothing, and the tool prints its output")
    func refusingClient() throws {
        let run = ToolRun(arguments: Self.rehearse + ["--", "curl", "-sS", "-m", "12", "{url}"])
        #expect(run.code == 2)
        #expect(run.errors.contains("pintle: error: proves nothing: the client refused even the valid server"))
        #expect(run.errors.contains("curl: (60)"))
        #expect(run.errors.contains("{ca} is their file"))
        let json = ToolRun("rehearse", "--json", "--", "sh", "-c", "exit 3; {url}")
        #expect(json.code == 2)
        #expect(try json.json()["error"]?["code"]?.string == "control-failed")
        #expect(json.errors.contains("did not connect"))
        // The same client with the option to trust the authority proves something.
        let twin = ToolRun(arguments: Self.rehearse + ["--only", "expired", "--"] + Self.curl + ["{url}"])
        #expect(twin.code == 0)
    }

    @Test("The JSON has the agreed keys")
    func document() throws {
        let run = ToolRun(arguments: Self.rehearse + ["--json", "--only", "expired", "--"] + Self.curl + ["{url}"])
        let results = try #require(try run.json().elements.map(Array.init))
        #expect(results.count == 2 + Self.neverRun.count)
        let expired = results[1]
        let agreed = ["id", "expected", "outcome", "requestBytes", "milliseconds", "clientExit", "reference"]
        #expect(ToolRun.keys(expired).prefix(agreed.count) == agreed[...])
        #expect(expired["expected"]?.string == "refused")
        #expect(expired["outcome"]?.string == "blocked")
        #expect(expired["requestBytes"]?.integer == 0)
        #expect(expired["clientExit"]?.integer == 60)
        #expect(expired["alert"]?.string == "certificate_expired (45)")
        #expect((results[0]["requestBytes"]?.integer ?? 0) > 0)
    }
}

/// Clients that get a certificate of their own: `{identity}`.
extension RehearseTests {
    private func run(_ only: String, _ client: [String]) -> ToolRun {
        ToolRun(arguments: Self.rehearse + ["--json", "--only", only, "--"] + client)
    }

    /// Returns the result of the attack that asks for a certificate.
    private func asked(_ run: ToolRun) throws -> JSONValue {
        let results = try #require(try run.json().elements.map(Array.init), "\(run.errors)")
        return try #require(results.first { $0["id"]?.string == Self.asking })
    }

    @Test("curl without pins shows an interceptor its certificate, and sends its request", arguments: ["1.2", "1.3"])
    func unpinnedIdentity(version: String) throws {
        let client = Self.curl + ["--cert", "{identity}", "--tls-max", version, "{url}"]
        let run = run(Self.asking, client)
        let attack = try asked(run)
        #expect(run.code == 1)
        #expect(attack["outcome"]?.string == "let-through" && attack["remark"]?.string == "it showed its certificate")
        #expect((attack["requestBytes"]?.integer ?? 0) > 0 && attack["clientCertificate"]?.boolean == true)
        #expect(try run.json().elements.map(Array.init)?.first?["clientCertificate"]?.boolean == true)
    }

    @Test(
        "curl compares pins after the handshake, so an interceptor gets its certificate and no request",
        arguments: ["1.2", "1.3"])
    func pinnedIdentity(version: String) throws {
        let client =
            Self.curl + ["--cert", "{identity}", "--tls-max", version, "--pinnedpubkey", "{pins}", "{url}"]
        let run = run("trusted-interceptor,\(Self.asking)", client)
        let attack = try asked(run)
        #expect(run.code == 1)
        #expect(attack["outcome"]?.string == "let-through" && attack["remark"]?.string == "it showed its certificate")
        #expect(attack["requestBytes"]?.integer == 0 && attack["clientCertificate"]?.boolean == true)
        // The interceptor that asks for nothing gets nothing.
        #expect(try Self.outcomes(run)["trusted-interceptor"] == "blocked")
        let text = ToolRun(arguments: Self.rehearse + ["--only", Self.asking, "--"] + client)
        #expect(text.lines.dropFirst().first == "          it showed its certificate", "\(text.output)")
        let words = text.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("it showed its certificate; an interceptor learns who the user is"), "\(words)")
        #expect(words.contains("interceptors get its certificate: compare pins within the handshake"), "\(words)")
    }

    @Test("A client that refuses within the handshake shows no certificate", arguments: ["-tls1_2", "-tls1_3"])
    func keptIdentity(version: String) throws {
        // The first certificate of the file is the right root.
        let shell = """
            awk '1; /END/ {exit}' "$1" > "$3" && printf 'GET / HTTP/1.0\\r\\n\\r\\n' |
                openssl s_client -quiet \(version) -connect "$2" -servername localhost -verify_return_error \
                    -CAfile "$3" -cert "$4"
            """
        let root = try TemporaryDirectory()
        let run = run(
            Self.asking, ["sh", "-c", shell, "sh", "{ca}", "{host}:{port}", root.path(of: "root.pem"), "{identity}"])
        let attack = try asked(run)
        #expect(run.code == 0, "\(run.output) \(run.errors)")
        #expect(attack["outcome"]?.string == "blocked" && attack["remark"] == nil)
        #expect(attack["requestBytes"]?.integer == 0 && attack["clientCertificate"] == nil)
        #expect(try run.json().elements.map(Array.init)?.first?["clientCertificate"]?.boolean == true)
    }

    @Test("The attack proves nothing about a client that gets no certificate, or does not show it to the right server")
    func withoutIdentity() throws {
        let untold = run("expired,\(Self.asking)", Self.curl + ["{url}"])
        #expect(untold.code == 0, "\(untold.output)")
        #expect(try asked(untold)["outcome"]?.string == "not-run")
        #expect(try asked(untold)["remark"]?.string == "this client has no certificate: {identity} is one")
        #expect(!untold.output.contains("clientCertificate"))
        let unused = run("expired,\(Self.asking)", Self.curl + ["-e", "{identity}", "{url}"])
        #expect(unused.code == 0, "\(unused.output)")
        #expect(try asked(unused)["outcome"]?.string == "not-run")
        #expect(try asked(unused)["remark"]?.string == "this client showed the right server no certificate")
        let only = run(Self.asking, Self.curl + ["{url}"])
        #expect(only.code == 2 && only.errors.contains("this client has no certificate"), "\(only.errors)")
        let device = ToolRun("rehearse", "--serve", "--only", Self.asking)
        #expect(device.code == 2 && device.errors.contains("a device has no certificate of this rehearsal"))
    }

    @Test(
        "With {identity} the right servers and one interceptor ask for a certificate of its authority",
        arguments: [
            ("renewed-same-key", 2), ("redirect-to-http", 2), ("retry-after-401", 2), (asking, 2),
            ("trusted-interceptor", 1), ("expired", 1),
        ])
    func askingServers(id: String, count: Int) throws {
        let directory = try TemporaryDirectory()
        let shell = """
            printf 'GET / HTTP/1.0\\r\\n\\r\\n' |
                openssl s_client -ign_eof -connect "$1" -servername localhost -CAfile "$2" -cert "$3" >> "$4"
            """
        let log = directory.path(of: "log")
        let run = run(id, ["sh", "-c", shell, "sh", "{host}:{port}", "{ca}", "{identity}", log])
        #expect(run.code != 2, "\(run.errors)")
        let text = String(decoding: try directory.read("log"), as: UTF8.self)
        #expect(text.split(separator: "\nCONNECTED(").count == 2, "\(text)")
        let lists = text.split(separator: "Acceptable client certificate CA names\n").dropFirst()
        #expect(lists.count == count, "\(text)")
        for list in lists {
            #expect(list.split(separator: "\n").first?.hasSuffix("Rehearsal Client Authority") == true)
        }
    }

    @Test("An interceptor that takes over from the right server asks for no certificate")
    func laterInterceptor() throws {
        let client = Self.curl + ["--cert", "{identity}", "--anyauth", "-u", "user:secret", "{url}"]
        for (id, option) in [("retry-after-401", "--http1.1"), ("refused-stream-moves-request", "--http2")] {
            let run = run(id, client + [option])
            let attack = try #require(try run.json().elements.map(Array.init)?.dropFirst().first, "\(run.errors)")
            #expect(attack["id"]?.string == id && attack["outcome"]?.string == "let-through", "\(run.output)")
            #expect(attack["clientCertificate"] == nil)
        }
    }

    @Test("The file of {identity} has the client's certificate, its issuer and its key, and only if it is used")
    func identityFile() throws {
        let directory = try TemporaryDirectory()
        let shell = """
            stat -c %a "$1" > "\(directory.path)/mode"; cat "$1" > "\(directory.path)/identity"; \
            echo "$1" > "\(directory.path)/path"; shift; exec "$@"
            """
        let run = run("expired", ["sh", "-c", shell, "sh", "{identity}"] + Self.curl + ["{url}"])
        #expect(run.code == 0, "\(run.errors)")
        #expect(String(decoding: try directory.read("mode"), as: UTF8.self) == "600\n")
        let path = String(decoding: try directory.read("path"), as: UTF8.self).dropLast()
        #expect(access(String(path), F_OK) != 0, "the run has removed it")
        let identity = String(decoding: try directory.read("identity"), as: UTF8.self)
        let labels = identity.split(separator: "\n").filter { $0.hasPrefix("-----BEGIN ") }
        #expect(labels.map { $0.dropFirst(11).dropLast(5) } == ["CERTIFICATE", "CERTIFICATE", "PRIVATE KEY"])
        let purpose = try runProcess(
            ["openssl", "x509", "-in", directory.path(of: "identity"), "-noout", "-issuer", "-ext", "extendedKeyUsage"])
        #expect(purpose.output.contains("Rehearsal Client Authority") && purpose.output.contains("Client Auth"))
        let untold = self.run(
            "expired",
            ["sh", "-c", "ls \"${1%/*}\" > \(directory.path)/names; shift; exec \"$@\"", "sh", "{ca}"]
                + Self.curl + ["{url}"])
        #expect(untold.code == 0, "\(untold.errors)")
        let names = String(decoding: try directory.read("names"), as: UTF8.self).split(separator: "\n")
        #expect(names.contains("authorities.pem") && !names.contains("identity.pem"), "\(names)")
    }
}
