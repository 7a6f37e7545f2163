import Foundation
import FoundationNetworking
import PintleOpenSSL
import PintleTestKit
import Testing

@testable import Pintle
@testable import PintleTLSClient
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
    ) -> TrustRejection? {
        do throws(TrustRejection) {
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
        #expect(mismatch(receipt, 3, root) == .unmet(.pathTooShort(2, minimum: 3)))
        // The leaf is not an issuer.
        #expect(mismatch(receipt, 2, leaf) == .unmet(.otherIssuer(root, required: leaf)))
    }

    @Test("The second check finds replaced certificates by their hashes")
    func forgery() async throws {
        let receipt = try await receipt()
        let pin = try #require(receipt.matchedPin).pin
        let other = try CertificateAuthority.root().issue(hosts: ["localhost"])
        #expect(mismatch(forged(receipt, path: receipt.path.certificates)) == nil)
        #expect(mismatch(forged(receipt, path: other.chainWithRoot)) == .unmet(.pinNotOnPath(pin)))
        #expect(mismatch(forged(receipt, path: [])) == .unmet(.pathTooShort(0, minimum: 2)))
        #expect(mismatch(forged(receipt, path: [[1], [2]])) == .unmet(.unreadableCertificate(depth: 0)))
        let outside = TrustBasis.pinMatched(PinMatch(pin: pin, depth: 7, isBackup: false))
        #expect(
            mismatch(forged(receipt, path: receipt.path.certificates, basis: outside)) == .unmet(.pinNotOnPath(pin)))
        let certificate = Pin(.certificate(CertificatePin(certificate: fixture.identity.certificate.der)))
        let byCertificate = TrustBasis.pinMatched(PinMatch(pin: certificate, depth: 0, isBackup: false))
        let genuine = receipt.path.certificates
        #expect(mismatch(forged(receipt, path: genuine, basis: byCertificate)) == nil)
        let swapped = forged(receipt, path: other.chainWithRoot, basis: byCertificate)
        #expect(mismatch(swapped) == .unmet(.pinNotOnPath(certificate)))
    }

    @Test("Without a pin the second check looks only at the path")
    func unpinned() async throws {
        let receipt = forged(try await receipt(), path: fixture.identity.chainWithRoot, basis: .hostNotPinned)
        #expect(mismatch(receipt) == nil)
        #expect(mismatch(receipt, 3) == .unmet(.pathTooShort(2, minimum: 3)))
    }
}

@Suite("The group in a receipt")
struct ReceiptGroupTests {
    @Test("The receipt of a response names the group of the key exchange, in both versions of TLS")
    func group() async throws {
        let fixture = try SessionFixture()
        for version in [LoopbackTLSServer.Version.tls12, .tls13] {
            for (choice, name) in [("X25519", "x25519"), ("P-256", "secp256r1")] {
                let server = try LoopbackTLSServer(fixture.identity) {
                    $0.versions = version...version
                    $0.groups = choice
                }
                let session = URLSession.pinned(to: try fixture.policy())
                let (_, response) = try await session.data(from: try server.address())
                #expect(response.negotiatedTLS?.cipherSuite.hasPrefix("TLS_") == true)
                #expect(response.negotiatedTLS?.keyExchangeGroup == name)
            }
        }
    }

    @Test("A session negotiates a hybrid group if OpenSSL offers one, and the receipt says so")
    func hybrid() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let (_, response) = try await URLSession.pinned(to: try fixture.policy()).data(from: try server.address())
        #expect(response.negotiatedTLS?.isHybrid == TLSClient.offersHybridGroup)
    }
}

@Suite(
    "Sessions with ML-DSA servers",
    .enabled(if: KeyType.mlDSA44.isAvailable, "skipped: ML-DSA needs OpenSSL 3.5, as in make modern"))
struct SessionMLDSATests {
    @Test("A session trusts a server with a pinned ML-DSA key, and refuses one with another key")
    func pinned() async throws {
        let root = try CertificateAuthority.root(keyType: .mlDSA65)
        let identity = try root.issue(hosts: ["localhost"], keyType: .mlDSA44)
        let server = try LoopbackTLSServer(identity)
        func policy(_ key: [UInt8]) throws -> PinningPolicy {
            let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: key)))
            return try PinningPolicy(
                hosts: [
                    PinnedHost(
                        "localhost", pins: [pin], backup: .noneAccepted,
                        anchors: .only([Certificate(der: root.certificate.der)]))
                ])
        }
        let session = URLSession.pinned(to: try policy(identity.certificate.spkiDER))
        let (_, response) = try await session.data(from: try server.address())
        #expect(response.trustReceipt?.matchedPin?.depth == 0)
        let wrong = URLSession.pinned(to: try policy(PrivateKey(.mlDSA44).spkiDER))
        let address = try server.address()
        let error = await #expect(throws: URLError.self) { try await wrong.data(from: address) }
        #expect(error.flatMap { TrustRejection(underlying: $0)?.reason } == "pin-mismatch")
    }
}
