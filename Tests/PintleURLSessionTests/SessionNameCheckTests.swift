import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

@testable import PintleStorage
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

    @Test("A dNSName that is not a DNS name matches nothing in a handshake, and leaves the other names valid")
    func misspeltNames() async throws {
        let root = try CertificateAuthority.root()
        let anchors = TrustAnchors.only([try Certificate(der: root.certificate.der)])
        let policy = try PinningPolicy(
            hosts: ["localhost", "127.0.0.1"].map { try PinnedHost($0, pins: [Pin](), anchors: anchors) })
        let odd: [CertificateTemplate.GeneralName] = [.dns("exa mple.com"), .dns("localhost:443"), .dns("")]
        for (names, host, isTrusted) in [
            (odd + [.dns("localhost")], "localhost", true), (odd, "localhost", false),
            ([.dns("localhost.")], "localhost", false), ([.dns("127.0.0.1")], "127.0.0.1", false),
            ([.dns("127.0.0.1"), .host("127.0.0.1")], "127.0.0.1", true),
        ] {
            let identity = try root.issue(hosts: []) { $0.subjectAltNames = names }
            let server = try LoopbackTLSServer(identity, handler: { _ in .ok })
            let url = try #require(URL(string: "https://\(host):\(server.port)/"))
            let result = await load(url, URLSession.pinned(to: policy))
            if isTrusted {
                #expect(throws: Never.self) { try result.get() }
            } else {
                let error = #expect(throws: URLError.self) { try result.get() }
                #expect(error?.pathFailure?.code == .nameMismatch, "\(names)")
                #expect(server.requestByteCount == 0)
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
