import Foundation
import Pintle
import PintleTestKit
import Security

/// A certificate authority, with servers and policies that belong to it.
struct SessionFixture: Sendable {
    let root: CertificateAuthority
    let identity: Identity

    /// - Parameter isSystem: A Boolean value that indicates whether the system trusts the authority.
    init(isSystem: Bool = false) throws {
        root = try .root()
        identity = try root.issue(hosts: ["localhost", "127.0.0.1", "::1"])
        if isSystem { StandIn.addSystemAnchor(root.certificate.der) }
    }

    func server(
        handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }
    ) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(identity, handler: handler)
    }

    /// Returns a policy with a rule for one host: with the server's pin, or with the pin of another key.
    func policy(
        host: String = "localhost", rightPin: Bool = true, anchors: TrustAnchors? = nil,
        unpinnedHosts: PinningPolicy.UnpinnedHosts = .systemTrust
    ) throws -> PinningPolicy {
        let rule = try rule(host: host, rightPin: rightPin, anchors: anchors)
        return try PinningPolicy(hosts: [rule], unpinnedHosts: unpinnedHosts)
    }

    /// Returns a rule for one host: with the server's pin, or with the pin of another key.
    func rule(
        host: String = "localhost", rightPin: Bool = true, anchors: TrustAnchors? = nil, expiry: PinExpiry = .never,
        enforcement: Enforcement = .enforce
    ) throws -> PinnedHost {
        let key = rightPin ? identity.certificate.spkiDER : try PrivateKey().spkiDER
        let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: key)))
        return try PinnedHost(
            host, pins: [pin], backup: .noneAccepted, expiry: expiry, enforcement: enforcement,
            anchors: try anchors ?? self.anchors)
    }

    var anchors: TrustAnchors {
        get throws { .only([try Certificate(der: root.certificate.der)]) }
    }

    /// Returns the challenge of the system about a server that sends this chain.
    static func challenge(
        _ chain: [[UInt8]], host: String = "localhost", port: Int = 443
    ) throws -> URLAuthenticationChallenge {
        var trust: SecTrust?
        let certificates = chain.compactMap { SecCertificateCreateWithData(nil, Data($0)) }
        _ = SecTrustCreateWithCertificates(certificates, SecPolicyCreateSSL(true, host), &trust)
        return .asked(.serverTrust(trust, host: host, port: port))
    }
}

extension LoopbackTLSServer {
    func address(_ path: String = "", host: String = "localhost") throws -> URL {
        guard let url = URL(string: url(host: host) + path) else { throw URLError(.badURL) }
        return url
    }
}
