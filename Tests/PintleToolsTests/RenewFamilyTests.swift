import Foundation
import Pintle
import PintleTestKit
import Testing

@Suite("Proposals that complete a family")
struct RenewFamilyTests {
    private let fixture: FamilyFixture

    init() throws {
        fixture = try FamilyFixture()
    }

    private func renew(_ pins: [PublicKeyPin]) throws -> ToolRun {
        let list = pins.map { "{\"spki\": \"\($0)\", \"at\": \"ca\"}" }.joined(separator: ", ")
        let policy = try fixture.directory.write(
            """
            {"version": 1, "hosts": [{"host": "example.test", "pins": [\(list)], "backupPins": ["\(RenewFixture.spare)"]}]}
            """, to: "policy.json")
        let root = try #require(fixture.families["alpha"])[0]
        let server = try LoopbackTLSServer(try root.intermediate().issue(hosts: ["example.test"]))
        return ToolRun(
            arguments: ["renew", policy, "--json", "-o", fixture.directory.path(of: "next.json")]
                + fixture.arguments(server))
    }

    @Test("A rule that pins a root of an authority gets its other roots as backup pins, at the position of authorities")
    func incomplete() throws {
        let alpha = try fixture.pins("alpha")
        let run = try renew([alpha[0]])
        #expect(run.code == 0, "\(run.errors)")
        let changes = try #require(try run.json()["changes"]?.elements.map(Array.init))
        #expect(changes.compactMap { $0["pin"]?.string } == alpha.dropFirst().map(\.description))
        #expect(changes.allSatisfy { $0["action"]?.string == "add" && $0["at"]?.string == "ca" })
        #expect(changes.allSatisfy { $0["message"]?.string?.contains("ALPHA also issues from this root") == true })
        let next = try PinningPolicy(json: try fixture.directory.read("next.json"))
        #expect(
            next.hosts.first?.backupPins.map(\.subject) == [try Pin.publicKey(RenewFixture.spare).subject]
                + alpha.dropFirst().map { .publicKey($0) })
    }

    @Test("A rule with the whole family stays as it is")
    func complete() throws {
        let run = try renew(try fixture.pins("alpha"))
        #expect(run.code == 0, "\(run.errors)")
        #expect(try run.json()["result"]?.string == "unchanged")
    }
}
