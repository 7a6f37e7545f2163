#if NIO
public import Pintle

/// An error of ``PinnedTLS`` that is no verdict of the policy.
public enum PinnedTLSError: Error, Sendable, Hashable {
    /// This setting of the configuration contradicts the policy.
    case refusedSetting(Setting)
    /// The handlers can only be added on the event loop of the channel.
    case notOnEventLoop
    /// The handshake ended without a verdict on this server, so the channel was closed. Its thread pool was stopped, or
    /// another handler bypassed the check.
    case noVerdict(ServerEndpoint)
    /// The policy changed after the verdict on this server and before the end of the handshake, so the channel was
    /// closed. A new connection gets a verdict of the new policy.
    case policyChanged(ServerEndpoint)
    /// The handshake with this server took longer than ``PinnedTLS/Timing/handshake``.
    case handshakeTimedOut(ServerEndpoint)

    /// A setting of NIOSSL's `TLSConfiguration` that contradicts a policy.
    public enum Setting: String, Sendable, Hashable, CaseIterable {
        /// With `.none` and `.optionalVerification` NIOSSL ignores a refusal.
        case certificateVerification
        /// A maximum below TLS 1.2, or below the minimum.
        case maximumTLSVersion
        /// Roots belong in the policy, as the anchors of its hosts.
        case trustRoots
        /// Roots belong in the policy, as the anchors of its hosts.
        case additionalTrustRoots
        /// The policy is not asked again at a renegotiation.
        case renegotiationSupport
        /// With a key shared beforehand, the server needs no certificate (RFC 4279).
        case pskClientProvider
        /// A list with SHA-1, which no handshake may use any more (RFC 9155).
        case verifySignatureAlgorithms
    }
}

extension PinnedTLSError: CustomStringConvertible {
    /// The failure and the remedy.
    public var description: String {
        switch self {
        case .refusedSetting(let setting): "TLSConfiguration.\(setting.rawValue): \(setting.remedy)"
        case .notOnEventLoop: "the handlers of TLS were added on another thread than the channel's event loop"
        case .noVerdict(let server): "\(server): the handshake ended without a verdict; the channel was closed"
        case .policyChanged(let server): "\(server): the policy changed during the handshake; the channel was closed"
        case .handshakeTimedOut(let server): "\(server): the handshake took too long; the channel was closed"
        }
    }
}

extension PinnedTLSError.Setting {
    fileprivate var remedy: String {
        switch self {
        case .certificateVerification: "NIOSSL would ignore a refusal; leave it at .fullVerification"
        case .maximumTLSVersion: "it must be at least TLS 1.2 and the minimum; leave it at nil"
        case .trustRoots, .additionalTrustRoots:
            "the policy decides about roots; put these into the anchors of its hosts"
        case .renegotiationSupport: "the policy would not be asked again; leave it at .none"
        case .pskClientProvider: "a shared key replaces the server's certificate; remove it"
        case .verifySignatureAlgorithms: "SHA-1 signatures can be forged; remove them, or leave it at nil"
        }
    }
}
#endif
