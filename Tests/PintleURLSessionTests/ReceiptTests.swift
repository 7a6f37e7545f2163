import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintleURLSession

@Suite("A second look at a receipt")
struct ReceiptTests {
    private let fixture: SessionFixture

    init() throws {
        fixture = try SessionFixture()
    }

    /// Returns the receipt of a response.
    private func receipt() async throws -> TrustReceipt {
        let server = try fixture.server()
        let (_, response) = try await URLSession.pinned(to: try fixture.policy()).data(from: try server.address())
        return try #require(response.trustReceipt)
    }

    /// Returns the receipt after code in the process has replaced its certificates.
    private func forged(_ receipt: TrustReceipt, path: [[UInt8]], basis: TrustBasis? = nil) -> TrustReceipt {
        TrustReceipt(
            endpoint: receipt.endpoint, basis: basis ?? receipt.basis, rule: receipt.rule,
            path: ValidatedPath(uncheckedLeafToAnchor: path), generation: receipt.generation,
            validUntil: receipt.validUntil, validFrom: receipt.validFrom)
    }

    private func mismatch(
        _ receipt: TrustReceipt, _ length: Int = 2, _ issuer: PublicKeyPin? = nil
    ) -> PathRequirementError? {
        do throws(PathRequirementError) {
            try receipt.require(minimumPathLength: length, issuerKey: issuer)
            return nil
        } catch {
            return error
        }
    }

    @Test("The second check accepts the path of the handshake, but not a longer minimum or another issuer")
    func expectations() async throws {
        let receipt = try await receipt()
        let root = try PublicKeyPin(subjectPublicKeyInfo: fixture.root.certificate.spkiDER)
        let leaf = try PublicKeyPin(subjectPublicKeyInfo: fixture.identity.certificate.spkiDER)
        #expect(mismatch(receipt, 2, root) == nil)
        #expect(mismatch(receipt, -1) == nil)
        #expect(mismatch(receipt, 3, root) == .pathTooShort(2, minimum: 3))
        // The leaf is not an issuer.
        #expect(mismatch(receipt, 2, leaf) == .otherIssuer(root, required: leaf))
    }

    @Test("The second check finds replaced certificates by their hashes")
    func forgery() async throws {
        let receipt = try await receipt()
        let pin = try #require(receipt.matchedPin).pin
        let other = try CertificateAuthority.root().issue(hosts: ["localhost"])
        #expect(mismatch(forged(receipt, path: receipt.path.certificates)) == nil)
        #expect(mismatch(forged(receipt, path: other.chainWithRoot)) == .pinNotOnPath(pin))
        #expect(mismatch(forged(receipt, path: [])) == .pathTooShort(0, minimum: 2))
        #expect(mismatch(forged(receipt, path: [[1], [2]])) == .unreadableCertificate(depth: 0))
        let outside = TrustBasis.pinMatched(PinMatch(pin: pin, depth: 7, isBackup: false))
        #expect(mismatch(forged(receipt, path: receipt.path.certificates, basis: outside)) == .pinNotOnPath(pin))
        let certificate = Pin(.certificate(CertificatePin(certificate: fixture.identity.certificate.der)))
        let byCertificate = TrustBasis.pinMatched(PinMatch(pin: certificate, depth: 0, isBackup: false))
        let genuine = receipt.path.certificates
        #expect(mismatch(forged(receipt, path: genuine, basis: byCertificate)) == nil)
        let swapped = forged(receipt, path: other.chainWithRoot, basis: byCertificate)
        #expect(mismatch(swapped) == .pinNotOnPath(certificate))
    }

    @Test("Without a pin the second check looks only at the path")
    func unpinned() async throws {
        let receipt = forged(try await receipt(), path: fixture.identity.chainWithRoot, basis: .hostNotPinned)
        #expect(mismatch(receipt) == nil)
        #expect(mismatch(receipt, 3) == .pathTooShort(2, minimum: 3))
    }
}
