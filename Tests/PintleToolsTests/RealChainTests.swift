import Foundation
import Pintle
import PintleOpenSSL
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools
@testable import PintleTools

/// Recorded chains of public sites, and the roots of this machine, against the built-in families.
@Suite("Families of real authorities")
struct RealChainTests {
    private struct Chain: Decodable {
        let trustedCerts: [String]
        let untrustedIntermediates: [String]
        let peerCertificate: String
        let validationTime: String

        /// The certificates that the server sent.
        var presented: [[UInt8]] { get throws { try ([peerCertificate] + untrustedIntermediates).map(Self.der) } }
        var anchors: [Certificate] {
            get throws { try trustedCerts.map { try Certificate(der: try Self.der($0)) } }
        }

        private static func der(_ pem: String) throws -> [UInt8] {
            var reader = PEMReader(Array(pem.utf8), maximumBlockSize: Certificate.maximumSize)
            return try #require(try reader.next()).bytes
        }
    }

    private static let sites = [
        "amazon.com", "apple.com", "cloudflare.com", "docs.python.org", "google.com", "microsoft.com",
        "stackoverflow.com",
    ]

    private static func chain(_ site: String) throws -> Chain {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let path = "\(try #require(PublicData.folder))/chains/\(site).limbo.json"
        return try decoder.decode(Chain.self, from: Data(try InputFile(path, standardInput: ByteSource([])).bytes))
    }

    private static func evaluation(_ policy: PinningPolicy, _ site: String) throws -> TrustEvaluation {
        let chain = try chain(site)
        return policy.evaluate(
            ServerEndpoint(host: try ServerName(site)), presented: try chain.presented,
            at: Date(wholeSeconds: try RFC3339.date(from: chain.validationTime).wholeSeconds),
            validate: PathValidator(system: SystemAnchors(replacedBy: try chain.anchors)).validate)
    }

    private static func family(_ site: String) throws -> AuthorityFamily {
        let path = try #require(try evaluation(try PinningPolicy.withoutRules(), site).path)
        let keys = try path.certificates.map { try Certificate(der: $0).publicKeyPin }
        return try #require(try FamilyFile.builtIn().families.family(ofPath: keys), "\(site)")
    }

    @Test(
        "The rule of a real chain's family accepts that chain, and of the others those of the same family",
        .enabled(if: PublicData.folder != nil, "skipped: the public test data is not beside the package"),
        arguments: sites)
    func durable(site: String) throws {
        let family = try Self.family(site)
        var accepted: [String] = []
        for other in Self.sites {
            let endpoint = ServerEndpoint(host: try ServerName(other))
            let rule = DurableRule(endpoint: endpoint, authority: .init(family), seen: [])
            let text = try Snippet.policy.text(of: [rule.snippet(for: endpoint)], LinkedLibraries())
            let decision = try Self.evaluation(try PinningPolicy(json: Array(text.utf8)), other).decision
            #expect(decision.reason == (decision.isTrusted ? "pin-matched" : "pin-mismatch"))
            #expect(decision.isTrusted == (try Self.family(other).id == family.id), "\(site): \(other)")
            if decision.isTrusted { accepted.append(other) }
        }
        #expect(accepted.contains(site))
        print("durable: the family of \(site) is \(family.name); its rule accepts \(accepted.joined(separator: ", "))")
    }

    @Test("Roots of this machine that the families name have the hashes that the families list")
    func store() throws {
        let authorities = PublicAuthorities(environment: [:])
        guard !authorities.isEmpty else {
            print("skipped: this machine has no roots")
            return
        }
        let families = try FamilyFile.builtIn().families
        let known = families.families.flatMap(\.pins).filter { authorities.name(pinnedBy: Pin(.publicKey($0))) != nil }
        print(
            "families: \(known.count) of \(families.families.flatMap(\.pins).count) roots are in this machine's store")
        #expect(known.count >= 30)
    }
}
