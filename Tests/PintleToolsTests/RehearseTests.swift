import Pintle
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
        #expect(Self.ids(outcomes, "not-run") == Self.neverRun.union(["coalesced-connection"]))
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
        #expect(run.output.contains("1 as they must be, 1 wrongly blocked\n"))
        #expect(run.output.contains("next: the command line has no backup pin: {backup} is one"))
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
