import Foundation
import SpecificationVectors
import Testing

@testable import Pintle
@testable import PintlePolicyFile

/// The vectors of `Specification/policy.md`, and of the rule that decides.
@Suite("The vectors of policies")
struct PolicyVectorTests {
    private struct Input: Decodable {
        struct Answer: Decodable, Equatable {
            let answer: String
            var problems: [String]?
        }

        let files: [String: VectorBytes]?
        let publicSuffixes: Set<String>
        let policy: VectorBytes
        let expect: Answer

        private struct NoFile: Error {}

        var answer: Answer {
            let read = files.map { files in
                { (path: String) throws -> [UInt8] in
                    guard let file = files[path] else { throw NoFile() }
                    return file.bytes
                }
            }
            do throws(PolicyError) {
                _ = try PinningPolicy(
                    json: policy.bytes, resolvingFile: read, isPublicSuffix: { publicSuffixes.contains($0) })
                return Answer(answer: "accepted")
            } catch {
                return Answer(answer: "refused", problems: error.problems.map(\.id).sorted())
            }
        }
    }

    @Test("Every policy has the problems of its vector, and every problem has a vector")
    func policies() throws {
        var problems: Set<String> = []
        for (name, input) in try SpecificationVectors.read("policy", as: Input.self) {
            #expect(input.answer == input.expect, "\(name)")
            problems.formUnion(input.expect.problems ?? [])
        }
        // The ids are the words in code font with hyphens, and these two. A reader may stop with `more-problems`, or
        // go on.
        let ids = try SpecificationVectors.document("policy.md").split(separator: "`", omittingEmptySubsequences: false)
            .enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
            .filter { $0.contains("-") && $0.count > 1 && $0.allSatisfy { $0 == "-" || $0.isLetter && $0.isLowercase } }
        #expect(problems == Set(ids + ["comment", "invalid-utf8"]).subtracting(["more-problems"]))
    }

    private struct Host: Decodable {
        struct Answer: Decodable, Equatable {
            let answer: String
            var canonical: String?
            var isAddress: Bool?
            var isAlias: Bool?
        }

        let host: String
        let expect: Answer

        var answer: Answer {
            guard let name = try? ServerName(host) else { return Answer(answer: "no-host") }
            return Answer(
                answer: "host", canonical: String(decoding: name.canonical, as: UTF8.self),
                isAddress: name.ipAddress != nil, isAlias: AddressAlias(name) != nil)
        }
    }

    @Test("Every host has the canonical text of its vector")
    func hosts() throws {
        for (name, input) in try SpecificationVectors.read("hosts", as: Host.self) {
            #expect(input.answer == input.expect, "\(name)")
        }
    }

    private struct Pattern: Decodable {
        struct Rule: Decodable {
            let host: String
            let port: UInt16?
            let includeSubdomains: Bool
        }

        struct Endpoint: Decodable {
            let host: String
            let port: UInt16
        }

        struct Answer: Decodable { let index: Int? }

        let rules: [Rule]
        let endpoint: Endpoint
        let expect: Answer

        var index: Int? {
            get throws {
                let rules = try rules.map {
                    try PinnedHost($0.host, port: $0.port, includingSubdomains: $0.includeSubdomains, pins: [])
                }
                return try PinningPolicy(hosts: rules)
                    .rule(for: ServerEndpoint(host: try ServerName(endpoint.host), port: endpoint.port))?.index
            }
        }
    }

    @Test("For every endpoint, the rule of its vector decides")
    func patterns() throws {
        for (name, input) in try SpecificationVectors.read("patterns", as: Pattern.self) {
            #expect(try input.index == input.expect.index, "\(name)")
        }
    }
}
