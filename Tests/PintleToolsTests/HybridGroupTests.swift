import FoundationEssentials
import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleTLSClient
@testable import PintleTools

@Suite("Hybrid groups in check and audit")
struct HybridGroupTests {
    private let scene: AuditFixture

    init() throws {
        scene = try AuditFixture()
    }

    private func check(_ policy: String, _ server: LoopbackTLSServer, _ options: String...) -> ToolRun {
        ToolRun(
            arguments: [
                "check", "https://audit.test/", "--policy", policy, "--connect-to", "127.0.0.1:\(server.port)",
                "--anchors", scene.anchors,
            ] + options)
    }

    /// Writes results, each with its verdict and its group.
    private func results(_ servers: [(verdict: String, group: String?)], name: String = "r.ndjson") throws -> String {
        let lines = servers.enumerated().map { index, server in
            let group = server.group.map { ",\"keyExchangeGroup\":\"\($0)\"" } ?? ""
            return """
                {"host":"h\(index).audit.test","port":443,"at":"2026-11-23T00:00:00Z",\(server.verdict)\(group)}

                """
        }
        return try scene.directory.write(lines.joined(), to: name)
    }

    private static let trusted = "\"decision\":\"trusted\",\"reason\":\"pin-matched\""
    private static let rejected = "\"decision\":\"rejected\",\"reason\":\"pin-mismatch\""
    private static let unreached = "\"error\":{\"code\":\"connection-refused\"}"
    private static let hybrid = "X25519MLKEM768"

    @Test("Check names the group with -v and in JSON, of a refused server too")
    func check() throws {
        let policy = try scene.policy()
        let good = try LoopbackTLSServer(scene.identity) { $0.groups = "X25519" }
        let verbose = check(policy, good, "-v")
        #expect(verbose.code == 0)
        #expect(verbose.output.contains("\n  tls     TLS 1.3  TLS_AES_256_GCM_SHA384  x25519 (not hybrid)\n"))
        #expect(!check(policy, good).output.contains("x25519"))
        #expect(try check(policy, good, "--json").json()["keyExchangeGroup"]?.string == "x25519")
        #expect(try check(policy, good, "--json").json()["cipherSuite"]?.string == "TLS_AES_256_GCM_SHA384")
        let bad = try LoopbackTLSServer(scene.stranger()) { $0.groups = "X25519" }
        let refused = check(policy, bad, "-v")
        #expect(refused.code == 1)
        #expect(refused.output.contains("\n  tls     TLS 1.3  TLS_AES_256_GCM_SHA384  x25519 (not hybrid)\n"))
        #expect(try check(policy, bad, "--json").json()["keyExchangeGroup"]?.string == "x25519")
        // In TLS 1.2 the group follows the certificates, and a refused server never gets there.
        let old = try LoopbackTLSServer(scene.stranger()) { $0.versions = .tls12 ... .tls12 }
        #expect(try check(policy, old, "--json").json()["keyExchangeGroup"] == nil)
    }

    @Test("An audit keeps the group of each reached server, and counts none without --require")
    func audit() throws {
        let (good, bad) = (
            try LoopbackTLSServer(scene.identity) { $0.groups = "X25519" },
            try LoopbackTLSServer(scene.stranger()) { $0.groups = "P-256" }
        )
        let list = try scene.list([("a.audit.test", good.port), ("b.audit.test", bad.port)])
        let policy = try scene.policy()
        let run = scene.audit(policy, "--hosts", list, "-o", scene.directory.path(of: "r.ndjson"))
        #expect(run.code == 1)
        #expect(!run.output.contains("hybrid"))
        let records = try AuditFixture.records(scene.read("r.ndjson"))
        #expect(
            records.compactMapValues { $0["keyExchangeGroup"]?.string }
                == ["a.audit.test": "x25519", "b.audit.test": "secp256r1"])
        let json = try scene.audit(policy, "--hosts", list, "-o", scene.directory.path(of: "2.ndjson"), "--json").json()
        #expect(json["servers"]?.integer == 2 && json["hybrid"] == nil && json["keyExchangeGroups"] == nil)
    }

    @Test("A required hybrid group fails an audit of which one server lacks it, and passes one of which none does")
    func requirement() throws {
        let all = try results([(Self.trusted, Self.hybrid), (Self.trusted, "SecP256r1MLKEM768")], name: "all.ndjson")
        let most = try results([(Self.trusted, Self.hybrid), (Self.trusted, "x25519")])
        let fine = ToolRun("report", all, "--require", "hybrid")
        #expect(fine.code == 0)
        #expect(fine.output.contains("\n  groups    2 of 2 hosts negotiate a hybrid group\n"))
        let short = ToolRun("report", most, "--require", "hybrid")
        #expect(short.code == 1)
        #expect(short.output.contains("NO HYBRID    pin-matched"))
        #expect(short.output.contains("h1.audit.test:443  negotiates x25519\n"))
        #expect(!short.output.contains("h0.audit.test"))
        #expect(short.output.contains("\n  groups    1 of 2 hosts negotiate a hybrid group\n"))
        #expect(ToolRun("report", most).code == 0)
        #expect(try ToolRun("report", most, "--json").json()["hybrid"] == nil)
        let json = try ToolRun("report", most, "--json", "--require", "hybrid").json()
        #expect(json["hybrid"]?.integer == 1 && json["keyExchangeGroups"]?["x25519"]?.integer == 1)
        #expect(ToolRun("report", most, "--require", "tls").code == 2)
    }

    @Test("Servers that were not reached do not count, and results without groups fail the requirement")
    func unknown() throws {
        let gone = try results([(Self.trusted, Self.hybrid), (Self.unreached, nil)])
        let run = ToolRun("report", gone, "--require", "hybrid")
        #expect(run.code == 3)
        #expect(run.output.contains("1 of 1 host negotiates a hybrid group"))
        let older = try results([(Self.trusted, nil)], name: "older.ndjson")
        #expect(ToolRun("report", older).code == 0)
        #expect(!ToolRun("report", older).output.contains("hybrid"))
        #expect(ToolRun("report", older, "--require", "hybrid").code == 1)
        let refused = try results([(Self.rejected, Self.hybrid)], name: "refused.ndjson")
        #expect(ToolRun("report", refused, "--require", "hybrid").code == 1)
    }

    @Test("Text and page name hybrid groups only if they are required, and then the servers that lack one")
    func page() throws {
        let file = try results([(Self.trusted, Self.hybrid), (Self.trusted, "x25519")])
        let page = scene.directory.path(of: "page.html")
        #expect(ToolRun("report", file, "--html", page).code == 0)
        #expect(try !scene.read("page.html").contains("hybrid group"))
        #expect(ToolRun("report", file, "--html", page, "--require", "hybrid").code == 1)
        #expect(try scene.read("page.html").contains("<b>1</b> with a hybrid group"))
        #expect(try scene.read("page.html").contains("no hybrid group: x25519"))
        #expect(try scene.read("page.html").contains("1 of 2 hosts negotiate a hybrid group"))
    }

    @Test("A live audit needs a hybrid group on both sides, and asks no server if this side has none")
    func live() throws {
        let server = try LoopbackTLSServer(scene.identity)
        let classical = try LoopbackTLSServer(scene.identity) { $0.groups = "X25519" }
        let list = try scene.list([("a.audit.test", server.port)])
        let run = scene.audit(try scene.policy(), "--hosts", list, "--require", "hybrid")
        guard TLSClient.offersHybridGroup else {
            #expect(run.code == 2)
            #expect(run.errors.contains("offers no hybrid group, so no server can negotiate one"))
            #expect(server.connectionCount == 0)
            return
        }
        #expect(run.code == 0)
        #expect(run.output.contains("1 of 1 host negotiates a hybrid group"))
        let other = try scene.list([("b.audit.test", classical.port)], name: "other.txt")
        let short = scene.audit(try scene.policy(), "--hosts", other, "--require", "hybrid")
        #expect(short.code == 1)
        #expect(short.output.contains("negotiates x25519"))
    }
}
