import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

@testable import PintleURLSession

/// libcurl's own check of the name, and the gate that replaces it for approved servers with another name.
@Suite("Pinned sessions: the name that libcurl checks")
struct SessionNameCheckTests {
    private func load(_ url: URL, _ session: URLSession) async -> Result<(Data, URLResponse), any Error> {
        do {
            return .success(try await session.data(from: url))
        } catch {
            return .failure(error)
        }
    }

    /// The verdict uses the machine's clock; the decision whether libcurl checks the name uses the session's clock. By
    /// the session's clock the approval has expired. So libcurl checks the name of a server that the verdict accepts.
    @Test("libcurl checks the name unless a valid approval accepts another one")
    func libraryCheck() async throws {
        for (host, isLate) in [("router.test", true), ("localhost", true), ("router.test", false)] {
            let identity = try Identity.selfSigned(hosts: [host])
            let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
            let leaf = try Certificate(der: identity.certificate.der)
            let store = TrustApprovalStore()
            let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: server.port)
            try store.approve(
                TrustApproval(
                    .certificate(leaf.fingerprint), for: endpoint, accepting: [.selfSigned, .nameMismatch], at: Date(),
                    until: Date() + 3_600))
            let session = PinnedURLSession(
                source: ApprovedPolicy(
                    LivePolicy(try PinningPolicy(hosts: [], unpinnedHosts: .askUser)), approvals: store),
                configuration: .ephemeral,
                delegate: nil, delegateQueue: nil,
                options: CurlTransport.Options(now: { Date() + (isLate ? 7_200 : 0) }))
            let result = await load(try server.address(), session)
            guard isLate else {
                #expect(throws: Never.self) { try result.get() }
                continue
            }
            #expect(server.requestByteCount == 0)
            let error = #expect(throws: URLError.self) { try result.get() }
            #expect(error.flatMap { TrustRejection(underlying: $0) } == nil)
            if host == "localhost" {
                // Control: libcurl finds the name in the certificate, and the second gate stops the request.
                #expect(error?.refusal == .notJudged)
            } else {
                #expect(error?.code == .secureConnectionFailed && error?.refusal == nil)
                #expect(error?.localizedDescription.contains("localhost") == true, "\(error as Any)")
            }
        }
    }

    @Test("If libcurl does not check the name, a request needs a receipt that is based on an approval")
    func receiptOfApproval() async throws {
        let identity = try Identity.selfSigned(hosts: ["router.test"])
        let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
        let leaf = try Certificate(der: identity.certificate.der)
        let store = TrustApprovalStore()
        let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: server.port)
        try store.approve(
            TrustApproval(
                .certificate(leaf.fingerprint), for: endpoint, accepting: [.selfSigned, .nameMismatch], at: Date()))
        for receipts in [HandshakeJudge.Receipts.withoutApproval, .written] {
            let session = PinnedURLSession(
                source: ApprovedPolicy(
                    LivePolicy(try PinningPolicy(hosts: [], unpinnedHosts: .askUser)), approvals: store),
                configuration: .ephemeral,
                delegate: nil, delegateQueue: nil, options: CurlTransport.Options(receipts: receipts))
            let result = await load(try server.address(), session)
            if receipts == .written {
                #expect(try result.get().1.trustReceipt?.basis.reason == "user-approved")
            } else {
                let error = #expect(throws: URLError.self) { try result.get() }
                #expect(error?.refusal == .notJudged)
                #expect(server.requestByteCount == 0)
            }
        }
    }
}
