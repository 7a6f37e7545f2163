import Testing

@testable import Pintle

@Suite("A second check of an evaluation")
struct RequireTests {
    private static let chain = TestChain()

    private static func evaluation(
        pins: [Pin] = [chain.keyPin(0)], path: ValidatedPath = chain.path
    ) throws -> TrustEvaluation {
        let backups = pins.isEmpty ? [] : [TestChain.spare()]
        let rule = try PinnedHost("a.example", pins: pins, backupPins: backups)
        var fixture = try DecisionFixture(try PinningPolicy(hosts: [rule]), host: "a.example")
        fixture.outcome = .valid(path)
        return fixture.run().evaluation
    }

    private static func failure(
        _ evaluation: TrustEvaluation, _ length: Int, _ issuer: PublicKeyPin? = nil
    ) -> TrustRejection? {
        do throws(TrustRejection) {
            try evaluation.require(minimumPathLength: length, issuerKey: issuer)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the evaluation with another path, as an attacker's tool inside the process could forge it.
    private static func forged(_ evaluation: TrustEvaluation, _ path: [[UInt8]]?) -> TrustEvaluation {
        TrustEvaluation(
            endpoint: evaluation.endpoint, decision: evaluation.decision, rule: evaluation.rule,
            presented: evaluation.presented, path: path.map { ValidatedPath(uncheckedLeafToAnchor: $0) })
    }

    @Test("Only the requested length and issuer are required", arguments: [true, false])
    func requirements(isPinned: Bool) throws {
        let evaluation = try Self.evaluation(pins: isPinned ? [Self.chain.keyPin(0)] : [])
        let keys = try Self.chain.certificates.map { try #require(PublicKeyPin(sliceOf: $0)) }
        #expect(Self.failure(evaluation, 3, keys[1]) == nil)
        #expect(Self.failure(evaluation, -1) == nil)
        #expect(Self.failure(evaluation, 4, keys[1]) == .unmet(.pathTooShort(3, minimum: 4)))
        #expect(Self.failure(evaluation, 3, keys[2]) == .unmet(.otherIssuer(keys[1], required: keys[2])))
        #expect(Self.failure(evaluation, 3, keys[0]) == .unmet(.otherIssuer(keys[1], required: keys[0])))
    }

    @Test("A refusal meets no requirement, and neither does a verdict without a path")
    func refusals() throws {
        let refused = try Self.evaluation(pins: [TestChain(1).keyPin(0)])
        guard case .rejected(let rejection) = refused.decision else {
            Issue.record("\(refused.decision)")
            return
        }
        #expect(Self.failure(refused, 1) == rejection)
        let trusted = try Self.evaluation()
        #expect(Self.failure(trusted, 1) == nil)
        #expect(Self.failure(Self.forged(trusted, nil), 1) == .unmet(.noPath))
        for length in -1...1 {
            #expect(Self.failure(Self.forged(trusted, []), length) == .unmet(.pathTooShort(0, minimum: 1)))
        }
        for (count, text) in [(0, "has 0 certificates,"), (1, "has 1 certificate,"), (2, "has 2 certificates,")] {
            #expect(UnmetRequirement.pathTooShort(count, minimum: 3).description.contains(text))
        }
    }

    @Test("Certificates that were inserted later are detected by their hashes")
    func forgery() throws {
        let evaluation = try Self.evaluation()
        let pin = Self.chain.keyPin(0)
        #expect(Self.failure(Self.forged(evaluation, Self.chain.certificates), 3) == nil)
        #expect(Self.failure(Self.forged(evaluation, TestChain(1).certificates), 3) == .unmet(.pinNotOnPath(pin)))
        #expect(Self.failure(Self.forged(evaluation, [[1], [2]]), 1) == .unmet(.unreadableCertificate(depth: 0)))
    }
}
