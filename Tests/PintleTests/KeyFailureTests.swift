import Testing

@testable import Pintle

/// Tests which keys of a path from another platform are judged: the leaf's and the intermediates'.
@Suite("Keys on paths of other platforms")
struct KeyFailureTests {
    /// A certificate whose key is no point of its curve, or a good one.
    private static func certificate(isFlawed: Bool) -> [UInt8] {
        var certificate = UnsignedCertificate()
        if isFlawed { certificate.key = UnsignedCertificate.p256Key(1) }
        return certificate.der
    }

    /// Returns the failure of a path of as many certificates, of which those at some depths have a flawed key.
    private static func failure(
        count: Int, flawed: Set<Int>,
        pins: PinSet? = PinSet(pins: [TestChain.spare()], backupPins: [], requires: .anyPin)
    ) throws -> PathFailure? {
        let certificates = (0..<count).map { certificate(isFlawed: flawed.contains($0)) }
        let request = PathRequest(
            chain: try PresentedChain([certificate(isFlawed: false)]), host: try ServerName("example.test"),
            anchors: .system, instant: DecisionFixture.now, pins: pins)
        return request.keyFailure(of: ValidatedPath(uncheckedLeafToAnchor: certificates))
    }

    @Test("The leaf and each intermediate are judged, and the anchor only if it is the leaf")
    func depths() throws {
        for count in 1...4 {
            #expect(try Self.failure(count: count, flawed: []) == nil)
            for depth in 0..<count {
                let found = try Self.failure(count: count, flawed: [depth])
                guard depth < max(1, count - 1) else {
                    #expect(found == nil, "\(depth) of \(count)")
                    continue
                }
                #expect(found?.code == .weakKey && found?.primary.depth == depth, "\(depth) of \(count)")
                #expect(found?.primary.text == "an EC key that is not a point of its curve" && found?.detail == [])
            }
        }
        let all = try Self.failure(count: 4, flawed: [0, 1, 2, 3])
        #expect(all.map { [$0.primary] + $0.detail }?.map(\.depth) == [0, 1, 2])
    }

    @Test("Without pins no key is judged, and a backup pin is one")
    func pins() throws {
        let spare = TestChain.spare()
        #expect(try Self.failure(count: 2, flawed: [0], pins: nil) == nil)
        let none = PinSet(pins: [], backupPins: [], requires: .anyPin)
        #expect(try Self.failure(count: 2, flawed: [0], pins: none) == nil)
        for set in [
            PinSet(pins: [spare], backupPins: [], requires: .anyPin),
            PinSet(pins: [], backupPins: [spare], requires: .anyPin),
        ] {
            #expect(try Self.failure(count: 2, flawed: [0], pins: set)?.code == .weakKey)
        }
    }
}
