import FoundationEssentials
import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

/// Certificates that a real ACME client renews at two real authorities. Before each renewal Pintle judges how long the
/// pins of the server will match; after it they match or they do not.
@Suite(
    "Judgements of pins before renewals by ACME",
    .enabled(if: AcmeAuthority.isInstalled, "skipped: pebble or acme-tiny is missing; make setup installs them"))
struct RenewalProofTests {
    private enum PinKind: CaseIterable {
        case leafKey, intermediate, family
    }

    /// The judgements of one kind of pin that were right, and those that were wrong.
    private struct Tally {
        var right = 0
        var wrong = 0
        var ended = 0
    }

    private static let renewals = 20

    @Test("Twenty renewals with the same key at one authority: all pins last")
    func sameKey() throws {
        let tally = try run("same key") { _ in (keepsKey: true, authority: 0) }
        #expect(tally.values.allSatisfy { $0.ended == 0 })
        // Without a renewal in the history, a short certificate is taken for one with a new key.
        #expect(tally[.leafKey]?.wrong == 1)
        #expect(tally[.intermediate]?.wrong == 0 && tally[.family]?.wrong == 0)
    }

    @Test("Twenty renewals with new keys at one authority: each ends the pin of the leaf, and no other")
    func newKeys() throws {
        let tally = try run("new keys") { _ in (keepsKey: false, authority: 0) }
        #expect(tally[.leafKey]?.ended == Self.renewals)
        #expect(tally.values.allSatisfy { $0.wrong == 0 })
        #expect(tally[.intermediate]?.ended == 0 && tally[.family]?.ended == 0)
    }

    @Test("A move to another authority ends the pins of the first one, once; the key that is kept outlives it")
    func move() throws {
        let tally = try run("two authorities") { renewal in (keepsKey: true, authority: renewal < 10 ? 0 : 1) }
        #expect(tally[.leafKey]?.ended == 0 && tally[.leafKey]?.wrong == 1)
        #expect(tally[.intermediate]?.ended == 1 && tally[.intermediate]?.wrong == 1)
        #expect(tally[.family]?.ended == 1 && tally[.family]?.wrong == 1)
    }

    // MARK: The series

    /// - Parameter plan: the key and the authority of each renewal.
    private func run(
        _ name: String, plan: (Int) -> (keepsKey: Bool, authority: Int)
    ) throws -> [PinKind: Tally] {
        let directory = try TemporaryDirectory()
        let authorities = try (0..<2).map { try AcmeAuthority(in: directory, number: $0) }
        let anchors = try directory.write(authorities.map(\.root).joined(), to: "roots.pem")
        let families = try directory.write(try Self.families(authorities), to: "families.json")
        var key = try PrivateKey(.p256)
        var authority = authorities[0]
        var issued = try authority.issue(for: key)
        var tally: [PinKind: Tally] = [:]
        var results: [String] = []
        for renewal in 0..<Self.renewals {
            let now = Date().addingTimeInterval(Double(renewal) * 60)
            let before = try SServer(certificate: issued.leaf, issuers: issued.above, key: key.pem)
            results.append(try audit(before, anchors, directory, number: renewal, now: now))
            let history = results.flatMap { ["--from", $0] }
            var policies: [PinKind: String] = [:]
            var judged: [PinKind: Bool] = [:]
            for kind in PinKind.allCases {
                let policy = try directory.write(
                    try Self.policy(kind, issued, authority), to: "policy-\(kind).json")
                policies[kind] = policy
                let answer = try lint(policy, before, ["--families", families] + history, anchors, now: now)
                #expect(answer["reason"]?.string == "pin-matched")
                judged[kind] = ["fragile-pin", "family-incomplete"].contains(answer["fragility"]?["id"]?.string)
            }
            let next = plan(renewal)
            if !next.keepsKey { key = try PrivateKey(.p256) }
            authority = authorities[next.authority]
            issued = try authority.issue(for: key)
            let after = try SServer(certificate: issued.leaf, issuers: issued.above, key: key.pem)
            for (kind, policy) in policies {
                // A minute later: the new certificate began after `now`.
                let answer = try lint(
                    policy, after, ["--families", families], anchors, now: now.addingTimeInterval(60))
                let hasEnded = answer["reason"]?.string == "pin-mismatch"
                #expect(
                    hasEnded || answer["reason"]?.string == "pin-matched", "\(answer["reason"]?.string ?? "no answer")")
                if hasEnded { tally[kind, default: Tally()].ended += 1 }
                if judged[kind] == hasEnded {
                    tally[kind, default: Tally()].right += 1
                } else {
                    tally[kind, default: Tally()].wrong += 1
                }
            }
        }
        for kind in PinKind.allCases {
            let count = tally[kind] ?? Tally()
            print(
                "renewals, \(name), pin of the \(kind): \(count.right) of \(Self.renewals) judgements right; "
                    + "\(count.ended) pins ended")
        }
        return tally
    }

    /// Returns the path of a result of the server, as if it had one address all the time.
    private func audit(
        _ server: SServer, _ anchors: String, _ directory: TemporaryDirectory, number: Int, now: Date
    ) throws -> String {
        let run = ToolRun(
            "audit", "example.test", "--json", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors,
            now: now)
        #expect(run.code == 0, "\(run.errors)")
        return try directory.write(
            run.output.replacing("\"connectTo\":\"127.0.0.1:\(server.port)\",", with: ""), to: "audit-\(number).ndjson")
    }

    private func lint(
        _ policy: String, _ server: SServer, _ options: [String], _ anchors: String, now: Date
    ) throws -> JSONValue {
        let run = ToolRun(
            arguments: [
                "lint", policy, "--live", "--json", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors,
            ] + options, environment: ["SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere"], now: now)
        return try #require(try run.json()["servers"]?.elements?.first { _ in true }, "\(run.output)\(run.errors)")
    }

    private static func policy(
        _ kind: PinKind, _ issued: AcmeAuthority.Issued, _ authority: AcmeAuthority
    ) throws -> String {
        let pin =
            switch kind {
            case .leafKey: try pin(issued.leaf)
            case .intermediate: try pin(issued.above)
            case .family: try pin(authority.root)
            }
        return "{\"version\": 1, \"hosts\": [{\"host\": \"example.test\", \"pins\": [\"\(pin)\"], "
            + "\"backupPins\": [\"sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=\"]}]}"
    }

    private static func families(_ authorities: [AcmeAuthority]) throws -> String {
        let families = try authorities.enumerated().map { number, authority in
            "{\"id\": \"acme-\(number)\", \"name\": \"ACME \(number)\", \"roots\": "
                + "[{\"name\": \"Root \(number)\", \"pin\": \"\(try pin(authority.root))\", \"from\": \"a test\"}]}"
        }
        return
            "{\"version\": 1, \"date\": \"\(FamilyFixture.today)\", \"families\": [\(families.joined(separator: ", "))]}"
    }

    /// Returns the pin of the first certificate in a PEM text.
    private static func pin(_ pem: String) throws -> PublicKeyPin {
        var reader = PEMReader(Array(pem.utf8), maximumBlockSize: Certificate.maximumSize)
        return try Certificate(der: try #require(try reader.next()).bytes).publicKeyPin
    }
}
