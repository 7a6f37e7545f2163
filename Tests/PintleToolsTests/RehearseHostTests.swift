import PintleTestKit
import Testing

/// Clients that find the name of `--host` by their own means.
@Suite("Rehearsal: names that the client resolves")
struct RehearseHostTests {
    private static let named = RehearseTests.rehearse + ["--json", "--host", "api.example.com"]

    @Test("curl --resolve reaches the servers under the app's name")
    func curlResolve() throws {
        let run = ToolRun(
            arguments: Self.named + RehearseTests.quickGroups + ["--"] + RehearseTests.curl + [
                "--resolve", "{host}:{port}:127.0.0.1", "{url}",
            ])
        #expect(run.code == 1)
        let outcomes = try RehearseTests.outcomes(run)
        #expect(RehearseTests.ids(outcomes, "let-through") == RehearseTests.interceptions.union(RehearseTests.moves))
    }

    @Test("Any client reaches them with its own /etc/hosts")
    func ownHosts() throws {
        let probe = try runProcess(["unshare", "--mount", "--map-root-user", "true"])
        guard probe.status == 0 else {
            print("skipped: this system allows no mount namespace: \(probe.errorOutput)")
            return
        }
        let client = ["python3", "-c", Self.script, "{url}", "{ca}"]
        let run = ToolRun(arguments: Self.named + RehearseTests.quickGroups + ["--resolve-by", "hosts", "--"] + client)
        #expect(run.code == 1, "\(run.errors)")
        let outcomes = try RehearseTests.outcomes(run)
        #expect(RehearseTests.ids(outcomes, "let-through").contains("trusted-interceptor"))
        #expect(outcomes["wrong-host"] == "blocked" && outcomes["redirect-to-unpinned-host"] == "let-through")
    }

    private static let script = """
        import ssl, sys, urllib.request
        context = ssl.create_default_context(cafile=sys.argv[2])
        urllib.request.urlopen(sys.argv[1], context=context, timeout=12).read()
        """

    @Test("A client that does not find the name proves nothing, and the hint names both means")
    func unresolved() throws {
        let run = ToolRun(
            arguments: RehearseTests.rehearse + ["--host", "api.invalid", "--"] + RehearseTests.curl
                + ["--connect-to", "::localhost:1", "{url}"])
        #expect(run.code == 2)
        #expect(run.errors.contains("the client did not connect to the right server"))
        #expect(run.errors.contains("--resolve {host}:{port}:127.0.0.1") && run.errors.contains("--resolve-by hosts"))
    }
}
