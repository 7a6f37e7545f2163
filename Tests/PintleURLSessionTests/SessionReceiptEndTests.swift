import Foundation
import FoundationNetworking
import PintleOpenSSL
import PintleTestKit
import Synchronization
import Testing

@testable import Pintle
@testable import PintleStorage
@testable import PintleURLSession

/// The end of a connection's trust if the user's approval accepts an expired certificate.
@Suite("Pinned sessions: approvals of expired certificates")
struct SessionReceiptEndTests {
    enum Expiring: CaseIterable { case authority, leaf, neither }

    private static func validityEnd(_ certificate: MintedCertificate) throws -> Date {
        try Validity(ofCertificate: certificate.der).notAfter + 1
    }

    @Test(
        "A kept connection ends with its authority, but not with a leaf that may expire", arguments: Expiring.allCases)
    func keptConnection(expiring: Expiring) async throws {
        let root = try CertificateAuthority.root { $0.notAfter = .fromNow(days: 30) }
        let authority = try root.intermediate { $0.notAfter = .fromNow(days: expiring == .authority ? 1 : 20) }
        let identity = try authority.issue { $0.notAfter = .fromNow(days: expiring == .leaf ? 1 : 10) }
        let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
        let leaf = try Certificate(der: identity.certificate.der)
        let store = TrustApprovalStore()
        try store.approve(
            TrustApproval(
                .certificate(leaf.fingerprint),
                for: ServerEndpoint(host: ServerName("localhost"), port: server.port), accepting: [.expired],
                at: Date()))
        let isLate = Mutex(false)
        let system = SystemAnchors(replacedBy: [try Certificate(der: root.certificate.der)])
        let session = PinnedURLSession(
            source: ApprovedPolicy(try PinningPolicy(hosts: [], unpinnedHosts: .askUser), approvals: store),
            configuration: .ephemeral, delegate: nil, delegateQueue: nil, validator: PathValidator(system: system),
            options: CurlTransport.Options(now: { isLate.withLock { $0 } ? Date() + 2 * 86_400 : Date() }))
        let receipt = try #require(try await session.data(from: try server.address()).1.trustReceipt)
        #expect(receipt.path.certificates == identity.chainWithRoot)
        #expect(try receipt.validUntil == Self.validityEnd(authority.certificate))
        isLate.withLock { $0 = true }
        if expiring == .authority {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error?.refusal == .notJudged)
            #expect(server.requests.count == 1)
        } else {
            #expect(try await session.data(from: try server.address()).0.count == 3)
            #expect(server.requests.count == 2 && server.connectionCount == 1)
        }
    }

    @Test("A connection that ends at its leaf has no end if the approval accepts expiry, otherwise the leaf's")
    func leafAlone() async throws {
        for isAccepted in [true, false] {
            let identity = try Identity.selfSigned { $0.notAfter = .fromNow(days: isAccepted ? -1 : 1) }
            let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
            let leaf = try Certificate(der: identity.certificate.der)
            let store = TrustApprovalStore()
            try store.approve(
                TrustApproval(
                    .certificate(leaf.fingerprint),
                    for: ServerEndpoint(host: ServerName("localhost"), port: server.port),
                    accepting: isAccepted ? [.selfSigned, .expired] : [.selfSigned], at: Date()))
            let session = URLSession.pinned(
                to: ApprovedPolicy(try PinningPolicy(hosts: [], unpinnedHosts: .askUser), approvals: store))
            let receipt = try #require(try await session.data(from: try server.address()).1.trustReceipt)
            #expect(receipt.path.certificates == [identity.certificate.der])
            #expect(receipt.validUntil == (isAccepted ? .distantFuture : try Self.validityEnd(identity.certificate)))
        }
    }
}
