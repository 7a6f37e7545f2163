import FoundationEssentials
import Glibc
import Pintle
import PintlePolicyFile
import PintleTestKit
import PintleTestPeers
import Testing

/// mitmproxy between the tool and a server. The tool trusts its authority, as on a machine that an administrator has
/// set up for inspection.
@Suite(
    "A real interceptor",
    .enabled(if: Mitmproxy.program != nil, "skipped: mitmproxy is not installed; make test installs it"))
struct InterceptorTests {
    private let directory: TemporaryDirectory
    private let authority: PintleTestKit.CertificateAuthority
    private let identity: Identity
    private let server: LoopbackTLSServer

    init() throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.root(name: "Genuine Root")
        identity = try authority.issue(hosts: ["localhost"])
        server = try LoopbackTLSServer(identity)
    }

    @Test(
        "An intercepting proxy reads requests of a client without pins and gets none from a client with pins",
        arguments: Mitmproxy.Mode.allCases)
    func interceptor(_ mode: Mitmproxy.Mode) throws {
        let proxy = try Mitmproxy(mode, before: server.port, trusting: authority.certificate.pem)
        let anchors = try directory.write(authority.certificate.pem + proxy.authority(), to: "anchors.pem")
        func check(_ policy: String, throughProxy: Bool) throws -> ToolRun {
            var environment = ["LANG": "C.UTF-8"]
            var arguments = ["check", "https://localhost:\(server.port)/", "--policy", policy, "--anchors", anchors]
            if throughProxy, mode == .regular { environment["HTTPS_PROXY"] = "http://127.0.0.1:\(proxy.port)" }
            if throughProxy, mode == .reverse { arguments += ["--connect-to", "127.0.0.1:\(proxy.port)"] }
            return ToolRun(arguments: arguments + ["--json"], environment: environment)
        }

        let pinned = try policy(pins: [PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER)])
        let refused = try check(pinned, throughProxy: true)
        #expect(refused.code == 1)
        #expect(try refused.json()["decision"]?.string == "rejected")
        #expect(try refused.json()["reason"]?.string == "pin-mismatch")
        #expect(server.requestByteCount == 0)
        #expect(proxy.traffic(after: 1) == Mitmproxy.Traffic(refusals: 1))

        let direct = try check(pinned, throughProxy: false)
        #expect(try direct.json()["reason"]?.string == "pin-matched")

        let unpinned = try check(try policy(pins: []), throughProxy: true)
        #expect(unpinned.code == 0)
        #expect(try unpinned.json()["reason"]?.string == "host-not-pinned")
    }

    private func policy(pins: [PublicKeyPin]) throws -> String {
        let rule = """
            {"host": "localhost", "pins": ["\(pins.first?.description ?? "")"], "backupPins": "none-accepted"}
            """
        return try directory.write(
            #"{"version": 1, "hosts": [\#(pins.isEmpty ? "" : rule)]}"#, to: pins.isEmpty ? "open.json" : "policy.json")
    }
}
