#if os(Linux)
import Foundation
import SpecificationVectors
import Testing

@testable import Pintle

/// The vectors of `Specification/decision.md`.
@Suite("The vectors of decisions")
struct DecisionVectorTests {
    @Test("Every state has the answer of its vector, and every reason and code has a vector")
    func decisions() throws {
        var seen: Set<String> = []
        for (name, content) in try SpecificationVectors.files("decision") {
            let fields = try #require(try JSONSerialization.jsonObject(with: content) as? ModelState.Object, "\(name)")
            let expected = try #require(fields["expect"] as? ModelState.Object, "\(name)").mapValues { "\($0)" }
            let answer = try ModelState(fields).answer
            #expect(answer == expected, "\(name)")
            seen.formUnion([expected["reason"], expected["code"]].compactMap(\.self))
        }
        let reasons = TrustDecision.Reason.allCases.map(\.rawValue) + PathFailure.Code.allCases.map(\.rawValue)
        #expect(seen.subtracting(["<null>"]) == Set(reasons))
    }

    // MARK: The question to the user

    private struct Question: Decodable {
        struct Answer: Decodable, Equatable {
            let answer: String
            let unacceptable: String?
            let exceptions: [String]
            let accepts: [String]?
        }

        let subject: String
        let shown: [String]
        let newExpiresAt: Double?
        let userWasTold: Bool
        let changedMeanwhile: Bool
        let expect: Answer

        func answer(in state: ModelState) throws -> Answer {
            guard case .rejected(.unknownHost(let host)) = state.decision else {
                return Answer(answer: "\(state.decision)", unacceptable: nil, exceptions: [], accepts: nil)
            }
            var approvals = state.approvals
            if changedMeanwhile {
                approvals.replace(
                    try TrustApproval(.certificate(host.leaf.fingerprint), for: host.endpoint, at: state.now))
            }
            let approval = try? approvals.approve(
                host, as: subject == "key" ? .key : .certificate,
                alsoAccepting: Set(shown.compactMap(TrustApproval.AcceptedFailure.init)), at: state.now,
                until: newExpiresAt.map { Date(timeIntervalSince1970: $0) }, acceptingIncompleteRecord: userWasTold)
            return Answer(
                answer: approval == nil ? "refused" : "approved", unacceptable: host.unacceptableFailure?.code.rawValue,
                exceptions: host.exceptionsOfCertificate.map(\.rawValue).sorted(),
                accepts: approval?.accepts.map(\.rawValue).sorted())
        }
    }

    @Test("Every answer to a question has the approval of its vector")
    func questions() throws {
        for (name, content) in try SpecificationVectors.files("questions") {
            let fields = try #require(try JSONSerialization.jsonObject(with: content) as? ModelState.Object, "\(name)")
            let question = try JSONDecoder().decode(Question.self, from: content)
            #expect(try question.answer(in: ModelState(fields)) == question.expect, "\(name)")
        }
    }

    // MARK: The chain that a server sends

    private struct Chain: Decodable {
        struct Run: Decodable {
            let count: Int
            let bytes: Int
            let names: Int
            let kind: String

            var der: [UInt8] {
                guard kind != "unreadable" else { return [UInt8](repeating: 0, count: bytes) }
                // The header of each layer has up to four bytes more in a large certificate.
                let most = max(0, bytes - certificate(padding: 0).count - 24)
                return certificate(padding: most + bytes - certificate(padding: most).count)
            }

            private func certificate(padding: Int) -> [UInt8] {
                var certificate = UnsignedCertificate()
                let names = [[UInt8]](repeating: DERBytes.element(0x82, Array("a.example".utf8)), count: names)
                certificate.extensions = [
                    UnsignedCertificate.extensionField(
                        DERBytes.oid(2, 5, 29, 17), DERBytes.sequence(names.flatMap(\.self))),
                    UnsignedCertificate.extensionField(
                        DERBytes.oid(1, 3, 6, 1, 4, 1, 1), [UInt8](repeating: 0, count: padding)),
                ]
                if kind == "explicit-curve" {
                    let elliptic = DERBytes.oid(1, 2, 840, 10045, 2, 1)
                    certificate.key = DERBytes.sequence(
                        DERBytes.sequence(elliptic, DERBytes.sequence(DERBytes.integer(1))), DERBytes.bitString([4]))
                }
                return certificate.der
            }
        }

        struct Answer: Decodable, Equatable {
            let answer: String
            var code: String?
            var certificates: Int?
        }

        let certificates: [Run]
        let expect: Answer

        func answer(to presented: [[UInt8]]) -> Answer {
            do throws(PathFailure) {
                return Answer(answer: "readable", certificates: try PresentedChain(presented).certificates.count)
            } catch {
                return Answer(answer: "failure", code: error.code.rawValue)
            }
        }
    }

    @Test("Every chain has the result of its vector")
    func chains() throws {
        for (name, chain) in try SpecificationVectors.read("chains", as: Chain.self) {
            var presented: [[UInt8]] = []
            for run in chain.certificates {
                let der = run.der
                #expect(der.count == run.bytes, "\(name)")
                presented += Array(repeating: der, count: run.count)
            }
            #expect(chain.answer(to: presented) == chain.expect, "\(name)")
        }
    }
}
#endif
