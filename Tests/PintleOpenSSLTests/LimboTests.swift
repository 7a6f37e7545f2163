import Foundation
import Pintle
import PintleOpenSSL
import Testing

/// The core server cases of x509-limbo (C2SP), compared with a committed list of exceptions.
@Suite("x509-limbo")
struct LimboTests {
    struct Suite: Decodable {
        let testcases: [Case]
    }

    struct Case: Decodable {
        struct PeerName: Decodable {
            let kind: String
            let value: String
        }
        let id: String
        let expectedResult: String
        let validationKind: String
        let peerCertificate: String
        let untrustedIntermediates: [String]
        let trustedCerts: [String]
        let validationTime: String?
        let expectedPeerName: PeerName?
        let maxChainDepth: Int?
        let crls: [String]
    }

    /// A line of the list: `id expected actual reason`.
    struct Exception {
        let expected: String
        let actual: String
        let reason: String
    }

    @Test(
        "Every case ends as expected or as its exception says, and no exception is out of date",
        .enabled(if: SharedData.isPresent, "skipped: the public test data is not beside the package"))
    func core() throws {
        let data = try #require(SharedData.bytes("limbo-core.json"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let cases = try decoder.decode(Suite.self, from: data).testcases
            .filter { $0.validationKind == "SERVER" }
        #expect(cases.count == 198)
        let exceptions = try Self.exceptions()
        var right = 0
        var seen: Set<String> = []
        var wrong: (accepted: Int, refused: Int) = (0, 0)
        for testcase in cases {
            let outcome = try Self.run(testcase)
            let actual = outcome.isTrusted ? "SUCCESS" : "FAILURE"
            if actual == testcase.expectedResult {
                right += 1
                #expect(
                    exceptions[testcase.id] == nil,
                    "\(testcase.id) ends as it should now: take it off the exceptions")
            } else {
                if testcase.maxChainDepth == nil, testcase.crls.isEmpty {
                    if outcome.isTrusted { wrong.accepted += 1 } else { wrong.refused += 1 }
                }
                let exception = exceptions[testcase.id]
                #expect(
                    exception?.actual == actual && exception?.expected == testcase.expectedResult,
                    "\(testcase.id): expected \(testcase.expectedResult), got \(outcome)")
                seen.insert(testcase.id)
            }
        }
        #expect(Set(exceptions.keys) == seen)
        print("x509-limbo core: \(right) of \(cases.count) right; without CRLs and depth limits", terminator: " ")
        print("\(wrong.accepted) wrongly accepted, \(wrong.refused) wrongly refused")
        let readme = URL(fileURLWithPath: #filePath + "/../../../README.md").standardized
        #expect(try String(contentsOf: readme, encoding: .utf8).contains(" \(right) of \(cases.count) cases "))
        #expect(right >= 169)
        #expect(wrong.accepted <= 21)
        #expect(wrong.refused <= 4)
    }

    @Test(
        "Chains of real sites are valid at their own time and not two years later",
        .enabled(if: SharedData.isPresent, "skipped: the public test data is not beside the package"),
        arguments: [
            "amazon.com", "apple.com", "cloudflare.com", "docs.python.org", "google.com", "microsoft.com",
            "stackoverflow.com",
        ])
    func realChain(_ site: String) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let data = try #require(SharedData.bytes("chains/\(site).limbo.json"))
        let testcase = try decoder.decode(Case.self, from: data)
        #expect(try Self.run(testcase).summary == "host-not-pinned")
        let instant = try Self.parse(try #require(testcase.validationTime)) + 2 * 365 * 86_400
        #expect(try Self.run(testcase, at: instant).summary == "invalid-path expired")
    }

    @Test(
        "A chain of 2017 breaches the profile: its root has version 1 and its intermediate no key identifier",
        .enabled(if: SharedData.isPresent, "skipped: the public test data is not beside the package"))
    func oldChain() throws {
        let chain = try ["ee", "inter", "ca"].map { Array(try #require(SharedData.bytes("chains/netflix/\($0).der"))) }
        let root = try Certificate(der: try #require(chain.last))
        #expect(root.version == 1)
        let validator = PathValidator(system: SystemAnchors(replacedBy: [root]))
        let decision = try PinningPolicy(hosts: []).evaluate(
            ServerEndpoint(host: try ServerName("www.netflix.com")), presented: Array(chain.dropLast()),
            at: Date(timeIntervalSince1970: 1_500_000_000), validate: validator.validate
        ).decision
        #expect(decision.summary == "invalid-path not-a-ca")
        guard case .rejected(.invalidPath(let failure)) = decision else { return }
        #expect(failure.primary.depth == 2)
        #expect(failure.detail.map(\.depth) == [1])
    }

    private static func run(_ testcase: Case, at instant: Date? = nil) throws -> TrustDecision {
        let host = try ServerName(testcase.expectedPeerName?.value ?? "unnamed.invalid")
        let instant = try instant ?? testcase.validationTime.map(parse) ?? Date()
        let chain = ([testcase.peerCertificate] + testcase.untrustedIntermediates).map(der)
        var budget = PathBudget()
        if let depth = testcase.maxChainDepth { budget.maximumIntermediates = depth }
        let anchors = testcase.trustedCerts.compactMap { try? Certificate(der: der($0)) }
        let validator = PathValidator(system: SystemAnchors(replacedBy: anchors), budget: budget)
        return try PinningPolicy(hosts: [])
            .evaluate(ServerEndpoint(host: host), presented: chain, at: instant, validate: validator.validate).decision
    }

    private static func der(_ pem: String) -> [UInt8] {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Array(Data(base64Encoded: lines.joined()) ?? Data())
    }

    private static func parse(_ text: String) throws -> Date {
        let formatter = ISO8601DateFormatter()
        if text.contains(".") { formatter.formatOptions.insert(.withFractionalSeconds) }
        return try #require(formatter.date(from: text))
    }

    private static func exceptions() throws -> [String: Exception] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("limbo-exceptions.txt")
        var exceptions: [String: Exception] = [:]
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#") {
            let fields = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true).map(String.init)
            try #require(fields.count == 4, "an exception without a reason: \(line)")
            exceptions[fields[0]] = Exception(expected: fields[1], actual: fields[2], reason: fields[3])
        }
        return exceptions
    }
}
