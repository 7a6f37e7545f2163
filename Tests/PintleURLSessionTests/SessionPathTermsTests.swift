import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

@testable import PintleURLSession

/// A session with a server whose leaf the root has signed directly, and with one behind an intermediate.
@Suite("Pinned sessions: terms of a rule about the path")
struct SessionPathTermsTests {
    private let root: CertificateAuthority
    private let intermediate: CertificateAuthority

    init() throws {
        root = try .root()
        intermediate = try root.intermediate()
    }

    private func load(
        from authority: CertificateAuthority, length: Int? = nil, issuer: CertificateAuthority? = nil
    ) async throws -> String {
        let server = try LoopbackTLSServer(try authority.issue(hosts: ["localhost"]))
        let key = try issuer.map { try PublicKeyPin(subjectPublicKeyInfo: $0.certificate.spkiDER) }
        let anchors = TrustAnchors.only([try Certificate(der: root.certificate.der)])
        let policy = try PinningPolicy {
            try PinnedHost("localhost", anchors: anchors, minimumPathLength: length, issuerKey: key)
        }
        do {
            let (_, response) = try await URLSession.pinned(to: policy).data(from: try server.address())
            return response.trustReceipt?.basis.reason ?? "no receipt"
        } catch {
            // The server was refused in the handshake, before a byte of the request.
            #expect(server.requestByteCount == 0)
            guard let rejection = TrustRejection(underlying: error) else { throw error }
            return "\(rejection.reason) \(rejection.pathFailure?.code.rawValue ?? "")"
        }
    }

    @Test("A path that is too short is refused in the handshake; one that is long enough carries the request")
    func length() async throws {
        #expect(try await load(from: root, length: 3) == "invalid-path other")
        #expect(try await load(from: root, length: 2) == "host-not-pinned")
        #expect(try await load(from: intermediate, length: 3) == "host-not-pinned")
    }

    @Test("Another issuer is refused in the handshake; the rule's own issuer carries the request")
    func issuer() async throws {
        #expect(try await load(from: root, issuer: intermediate) == "invalid-path other")
        #expect(try await load(from: intermediate, issuer: root) == "invalid-path other")
        #expect(try await load(from: intermediate, issuer: intermediate) == "host-not-pinned")
    }
}
