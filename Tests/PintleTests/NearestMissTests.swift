import Testing

@testable import Pintle

@Suite("Nearest misses")
struct NearestMissTests {
    static let chain = TestChain()

    private static func miss(
        _ pins: [Pin], requires: PinRequirement = .anyPin, others: [PinnedHost] = [],
        presented: [[UInt8]] = chain.presented, backup: Pin? = nil
    ) throws -> NearestMiss? {
        let backup = backup ?? TestChain.spare(0, requires == .leafAndCA ? .leaf : .any)
        let host = try PinnedHost("a.example", pins: pins, backupPins: [backup], requires: requires)
        let fixture = try DecisionFixture(try PinningPolicy(hosts: [host] + others), host: "a.example")
        return fixture.with { $0.presented = presented }.run().evaluation.mismatch?.slip
    }

    @Test("A pinned certificate that was sent but is not on the path is found")
    func notOnPath() throws {
        let other = TestChain(4)
        for pin in [other.keyPin(1), other.certificatePin(1)] {
            let miss = try Self.miss([pin], presented: Self.chain.presented + [other.certificates[1]])
            #expect(miss == .pinnedCertificateNotOnPath(pin))
            #expect(try Self.miss([pin]) == .nothingInCommon)
        }
    }

    @Test("A pinned key at another position is found")
    func otherPosition() throws {
        let authority = Self.chain.keyPin(1, .leaf)
        #expect(try Self.miss([authority]) == .otherPosition(authority, depth: 1))
        let leaf = Self.chain.certificatePin(0, .ca)
        #expect(try Self.miss([leaf]) == .otherPosition(leaf, depth: 0))
    }

    @Test("A backup pin can be the near miss")
    func backup() throws {
        let authority = Self.chain.keyPin(1, .leaf)
        let pins = [TestChain(4).keyPin(0)]
        #expect(try Self.miss(pins, backup: authority) == .otherPosition(authority, depth: 1))
        #expect(try Self.miss(pins) == .nothingInCommon)
    }

    @Test("A match of only one of the two required kinds is found")
    func oneOfTwo() throws {
        let leaf = Self.chain.keyPin(0, .leaf)
        let other = TestChain(4)
        #expect(
            try Self.miss([leaf, other.keyPin(1, .ca)], requires: .leafAndCA)
                == .onlyOneOfTwo(PinMatch(pin: leaf, depth: 0, isBackup: false)))
        let authority = Self.chain.keyPin(2, .ca)
        #expect(
            try Self.miss([other.keyPin(0, .leaf), authority], requires: .leafAndCA)
                == .onlyOneOfTwo(PinMatch(pin: authority, depth: 2, isBackup: false)))
        // The rule pins this key for both positions. The near miss names the pin that matched.
        let both = [Self.chain.keyPin(0, .ca), leaf]
        #expect(
            try Self.miss(both, requires: .leafAndCA)
                == .onlyOneOfTwo(PinMatch(pin: leaf, depth: 0, isBackup: false)))
    }

    @Test("A key that another rule pins is found")
    func otherRule() throws {
        let other = try PinnedHost(
            "b.example", port: 8443, pins: [Self.chain.keyPin(1)], backupPins: [TestChain.spare(1)])
        guard case .otherRule(let pin, let rule) = try Self.miss([TestChain(4).keyPin(0)], others: [other]) else {
            #expect(Bool(false), "another miss")
            return
        }
        #expect(.publicKey(pin) == Self.chain.keyPin(1).subject)
        #expect(rule.pattern == "b.example:8443")
        #expect(rule.index == 1 && !rule.isExact)
    }

    @Test("If several rules pin a served key, the first one is named; fingerprints of other rules do not count")
    func firstOtherRule() throws {
        let others = try [
            PinnedHost("b.example", pins: [Self.chain.certificatePin(0)], backupPins: [TestChain.spare(1)]),
            PinnedHost("c.example", pins: [TestChain.spare(2)], backupPins: [Self.chain.keyPin(2)]),
            PinnedHost("d.example", pins: [Self.chain.keyPin(0)], backupPins: [TestChain.spare(3)]),
        ]
        guard case .otherRule(let pin, let rule) = try Self.miss([TestChain(4).keyPin(0)], others: others) else {
            #expect(Bool(false), "another miss")
            return
        }
        #expect(.publicKey(pin) == Self.chain.keyPin(2).subject)
        #expect(rule.pattern == "c.example" && rule.index == 2)
        #expect(try Self.miss([TestChain(4).keyPin(0)], others: [others[0]]) == .nothingInCommon)
    }

    @Test("A pin that differs in letter case or in one character counts as misspelt")
    func misspelt() throws {
        let right = Self.chain.keyPin(0).description
        let characters = Array(right)
        let letter = try #require(characters.indices.dropFirst(7).first { characters[$0].isLetter })
        var otherCase = characters
        otherCase[letter] = Character(
            characters[letter].isUppercase ? characters[letter].lowercased() : characters[letter].uppercased())
        // The last character also says how many bits of it count.
        let lowerCase = right.prefix(7) + right.dropFirst(7).dropLast(2).lowercased() + right.suffix(2)
        var otherLetter = characters
        otherLetter[letter] = characters[letter] == "x" ? "y" : "x"
        for text in [String(otherCase), String(lowerCase), String(otherLetter)] {
            let wrong = try PublicKeyPin(text)
            let miss = try Self.miss([Pin(.publicKey(wrong))])
            #expect(miss == .misspelt(configured: wrong, served: try PublicKeyPin(right)))
        }
        // A difference in two characters means a different key.
        otherLetter[letter + 1] = characters[letter + 1] == "0" ? "1" : "0"
        #expect(try Self.miss([Pin(.publicKey(try PublicKeyPin(String(otherLetter))))]) == .nothingInCommon)
    }

    @Test("The hash of a certificate, written as a pin of a key, is found with the key that was meant")
    func certificateAsKey() throws {
        for depth in 0..<2 {
            let certificate = PublicKeyPin(digest: CertificatePin(certificate: Self.chain.certificates[depth]).digest)
            let key = try #require(Self.chain.keyPin(depth).key)
            let miss = try Self.miss([Pin(.publicKey(certificate))])
            #expect(miss == .certificateAsKey(certificate, depth: depth, key: key))
            #expect(miss?.description.contains("not of its key, which is \(key)") == true)
        }
        let certificate = PublicKeyPin(digest: CertificatePin(certificate: Self.chain.certificates[0]).digest)
        for (pin, isHash) in [(Pin(.publicKey(certificate)), true), (TestChain(4).keyPin(0), false)] {
            let host = try PinnedHost("a.example", pins: [pin], backup: .noneAccepted)
            let evaluation = try DecisionFixture(try PinningPolicy(hosts: [host]), host: "a.example").run().evaluation
            #expect(evaluation.mismatch?.pinsHashOfCertificate == isHash)
        }
        let foreign = PublicKeyPin(digest: CertificatePin(certificate: TestChain(4).certificates[0]).digest)
        #expect(try Self.miss([Pin(.publicKey(foreign))]) == .nothingInCommon)
    }

    @Test("Pins without any resemblance have nothing in common")
    func nothing() throws {
        #expect(try Self.miss([TestChain(4).keyPin(0), TestChain(5).certificatePin(1)]) == .nothingInCommon)
    }

    @Test("The search hashes the presented chain once, however many pins there are")
    func cost() throws {
        let pins = (0..<3_000).map { number in
            Pin(.certificate(CertificatePin(certificate: [UInt8(number & 0xFF), UInt8(number >> 8)])))
        }
        let filler = (0..<100).map { number in
            var certificate = UnsignedCertificate()
            certificate.serial = DERBytes.integer(UInt8(number))
            certificate.signature = DERBytes.bitString([UInt8](repeating: 1, count: 40_000))
            return certificate.der
        }
        let seconds = try secondsTaken {
            let miss = try Self.miss(pins, presented: Self.chain.presented + filler)
            #expect(miss == .nothingInCommon)
        }
        // One pass for each pin would hash twelve gigabytes.
        #expect(seconds < 5)
    }

    @Test("Each near miss has a description in words")
    func descriptions() throws {
        let pin = Self.chain.keyPin(0)
        let misses: [NearestMiss] = [
            .pinnedCertificateNotOnPath(pin), .otherPosition(pin, depth: 1),
            .onlyOneOfTwo(PinMatch(pin: pin, depth: 0, isBackup: false)),
        ]
        for miss in misses { #expect(miss.description.contains(pin.description)) }
        #expect(Set(misses.map(\.description)).count == 3)
    }
}
