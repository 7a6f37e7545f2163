import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests how long a connection may carry requests.
@Suite("Receipts")
struct TrustReceiptTests {
    private static let now = DecisionFixture.now
    private static let server = try? ServerEndpoint(host: ServerName("a.example"))
    // From 2026 to 2028, and from 2025 to 2030.
    private static let leaf = certificate("260101000000Z", "271231235959Z")
    private static let issuer = certificate("250101000000Z", "291231235959Z")

    private static func certificate(_ start: String, _ end: String) -> [UInt8] {
        var certificate = UnsignedCertificate()
        certificate.notBefore = DERBytes.utcTime(start)
        certificate.notAfter = DERBytes.utcTime(end)
        return certificate.der
    }

    private static func receipt(
        _ path: [[UInt8]], _ decision: TrustDecision = .trusted(.hostNotPinned), expiry: PinExpiry = .never
    ) throws -> TrustReceipt? {
        let endpoint = try #require(server)
        let policy = try PinningPolicy(hosts: [
            PinnedHost("a.example", pins: [TestChain().keyPin(0)], backup: .noneAccepted, expiry: expiry)
        ])
        let evaluation = TrustEvaluation(
            endpoint: endpoint, decision: decision, rule: policy.rule(for: endpoint), presented: nil,
            path: ValidatedPath(uncheckedLeafToAnchor: path))
        return TrustReceipt(evaluation, by: policy, generation: 7, at: now)
    }

    private static func dates(of certificate: [UInt8]) throws -> Validity { try Certificate(der: certificate).validity }

    @Test("It lasts while every certificate of the path is valid, to the end of the last second")
    func dates() throws {
        let (leaf, issuer) = (try Self.dates(of: Self.leaf), try Self.dates(of: Self.issuer))
        for path in [[Self.leaf, Self.issuer], [Self.issuer, Self.leaf]] {
            let receipt = try #require(try Self.receipt(path))
            #expect(receipt.validFrom == leaf.notBefore && receipt.validUntil == leaf.notAfter + 1)
            #expect(receipt.generation == 7)
        }
        let alone = try #require(try Self.receipt([Self.issuer]))
        #expect(alone.validFrom == issuer.notBefore && alone.validUntil == issuer.notAfter + 1)
    }

    @Test("Without a certificate, or with one that cannot be read, it allows no instant")
    func unreadable() throws {
        for path in [[], [Self.leaf, [1]]] {
            let receipt = try #require(try Self.receipt(path))
            #expect(receipt.validFrom == .distantFuture && receipt.validUntil == .distantPast)
        }
    }

    @Test("An approval ends it, and may accept the dates of the leaf, but not those of an authority")
    func approval() throws {
        let endpoint = try #require(Self.server)
        let subject = Pin.Subject.certificate(CertificatePin(certificate: Self.leaf))
        func receipt(_ accepts: Set<TrustApproval.AcceptedFailure>, until end: Date? = nil) throws -> TrustReceipt {
            let approval = try TrustApproval(subject, for: endpoint, accepting: accepts, at: Self.now, until: end)
            return try #require(try Self.receipt([Self.leaf, Self.issuer], .trusted(.userApproved(approval))))
        }
        let (leaf, issuer) = (try Self.dates(of: Self.leaf), try Self.dates(of: Self.issuer))
        #expect(try receipt([]).validUntil == leaf.notAfter + 1)
        #expect(try receipt([.expired]).validUntil == issuer.notAfter + 1)
        #expect(try receipt([.expired]).validFrom == leaf.notBefore)
        #expect(try receipt([], until: Self.now + 60).validUntil == Self.now + 60)
    }

    @Test("Before the expiry of the pins it ends with them, and from then on it begins with it", arguments: [-1, 0, 1])
    func expiry(offset: Double) throws {
        let date = Self.now + offset
        let receipt = try #require(try Self.receipt([Self.leaf], expiry: .systemTrust(after: date)))
        let leaf = try Self.dates(of: Self.leaf)
        #expect(receipt.validUntil == (offset > 0 ? date : leaf.notAfter + 1))
        #expect(receipt.validFrom == (offset > 0 ? leaf.notBefore : date))
    }

    @Test("A refusal has none; that of a pin names the match, and its path can be checked again")
    func basis() throws {
        let endpoint = try #require(Self.server)
        #expect(try Self.receipt([Self.leaf], .rejected(.hostNotAllowed(endpoint))) == nil)
        let pin = Pin(.certificate(CertificatePin(certificate: Self.leaf)))
        let match = PinMatch(pin: pin, depth: 0, isBackup: false)
        let pinned = try #require(try Self.receipt([Self.leaf], .trusted(.pinMatched(match))))
        #expect(pinned.matchedPin == match)
        #expect(try Self.receipt([Self.leaf])?.matchedPin == nil)
        #expect(throws: Never.self) { try pinned.require(minimumPathLength: 1) }
        #expect(throws: TrustRejection.unmet(.pathTooShort(1, minimum: 2))) { try pinned.require(minimumPathLength: 2) }
        let swapped = try #require(try Self.receipt([Self.issuer], .trusted(.pinMatched(match))))
        #expect(throws: TrustRejection.unmet(.pinNotOnPath(pin))) { try swapped.require(minimumPathLength: 1) }
        let outside = PinMatch(pin: pin, depth: 1, isBackup: false)
        let beyond = try #require(try Self.receipt([Self.leaf], .trusted(.pinMatched(outside))))
        #expect(throws: TrustRejection.unmet(.pinNotOnPath(pin))) { try beyond.require(minimumPathLength: 1) }
    }
}
