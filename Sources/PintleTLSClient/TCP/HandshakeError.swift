package import Pintle
package import PintleOpenSSL

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
package import Foundation
#endif

/// The reason that there is no checked connection: the event, and the remedy.
///
/// `message` and `hint` are lower case without a full stop. They contain no unescaped bytes from the peer, and never a
/// credential. The error keeps no handle open.
package struct HandshakeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A code that stays stable across releases: scripts may compare the `rawValue`.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The host or port of the target is not valid.
        case invalidHost = "invalid-host"
        /// The client's settings contain a value that TLS cannot carry.
        case invalidConfiguration = "invalid-configuration"
        /// A proxy setting (`HTTPS_PROXY`, `ALL_PROXY`) cannot be parsed, or its kind of proxy cannot take its user
        /// name and password.
        case invalidProxy = "invalid-proxy"
        /// The scheme of the proxy setting is not supported (`https://`, `socks4://`, ...), or not for this server.
        case proxyUnsupported = "proxy-unsupported"

        /// The resolver knows no address of the host.
        case nameNotResolved = "name-not-resolved"
        /// No process listens on the port.
        case connectionRefused = "connection-refused"
        /// TCP took longer than the time-out.
        case connectTimeout = "connect-timeout"
        /// TCP failed otherwise: no route, network down, reset.
        case connectionFailed = "connection-failed"

        /// The proxy refused to connect to the server.
        case proxyRefused = "proxy-refused"
        /// The proxy requires credentials, or rejected the configured ones.
        case proxyAuthenticationRequired = "proxy-authentication-required"
        /// The answer is not that of the configured kind of proxy, or exceeds a limit.
        case proxyProtocol = "proxy-protocol"
        /// The proxy did not connect within the time-out.
        case proxyTimeout = "proxy-timeout"

        /// The handshake took longer than the time-out.
        case handshakeTimeout = "handshake-timeout"
        /// The peer does not speak TLS.
        case notTLS = "not-tls"
        /// The peer's version of TLS is older than the minimum.
        case protocolVersion = "protocol-version"
        /// The peer ended the handshake with an alert; ``HandshakeError/alert`` names it.
        case tlsAlert = "tls-alert"
        /// The peer closed the connection before the handshake had ended.
        case closedDuringHandshake = "closed-during-handshake"
        /// The handshake failed for another reason, given in the message, in OpenSSL's words if OpenSSL reported it.
        case handshakeFailed = "handshake-failed"
        /// The server presented too many or too large certificates (`PresentedChain.Limits`). They were not parsed.
        case limitsExceeded = "limits-exceeded"
        /// A presented certificate cannot be parsed.
        case malformedCertificate = "malformed-certificate"
        /// The verdict refused the server, and the server was sent an alert.
        case rejectedByVerifier = "rejected-by-verifier"
        /// A handshake completed without a valid verdict: OpenSSL did not ask for one, asked twice, or asked about
        /// another server than SNI names. This has never been seen, and is refused all the same.
        case verifierNotCalled = "verifier-not-called"

        /// On a checked connection: a read or write timed out.
        case ioTimeout = "io-timeout"
        /// On a checked connection: it ended without close_notify, so the data may be incomplete.
        case truncated
        /// On a checked connection: the peer sent bytes that are not TLS or that cannot be decrypted.
        case tlsFailed = "tls-failed"
        /// The system has no memory or descriptor left, or OpenSSL could not be set up.
        case noResources = "no-resources"
    }

    /// The kind of error; stable, for programs.
    package let code: Code
    /// The event and the server or proxy, for people. Lower case, no full stop.
    package let message: String
    /// The remedy, if one is known.
    package let hint: String?
    /// A Boolean value that indicates whether the error occurred before the peer's certificate arrived. The command
    /// line then exits with code 3.
    package let isBeforeCertificate: Bool
    /// The name of the alert as in RFC 8446 section 6. The peer sent it (`tls-alert`), or we sent it
    /// (`rejected-by-verifier`).
    package let alert: String?

    init(
        _ code: Code, _ message: String, hint: String? = nil, isBeforeCertificate: Bool = true, alert: String? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.isBeforeCertificate = isBeforeCertificate
        self.alert = alert
    }

    /// Creates the error for a proxy setting that cannot be used.
    package init(_ error: ProxyError) {
        let code: Code =
            switch error.kind {
            case .invalid: .invalidProxy
            case .unsupported: .proxyUnsupported
            }
        self.init(code, error.message, hint: error.hint)
    }

    /// The message, with the hint if there is one.
    package var description: String { hint.map { "\(message); \($0)" } ?? message }

    static func invalidHost(_ host: String, why: String) -> HandshakeError {
        HandshakeError(
            .invalidHost, "\"\(printable(Array(host.utf8)))\" is not a host to connect to: \(why)",
            hint: "give a name, an IPv4 address, or an IPv6 address in brackets"
        )
    }

    static func noResources(_ what: String) -> HandshakeError {
        HandshakeError(.noResources, what, hint: "close other programs, or raise the limit (ulimit -n)")
    }
}

extension HandshakeError {
    /// The failure of the certificates, if OpenSSL stopped at them before it asked for a verdict. It counts as a
    /// verdict.
    package var pathFailure: PathFailure? {
        switch code {
        case .limitsExceeded: PathFailure(.limitsExceeded, text: message)
        case .malformedCertificate: PathFailure(.malformedCertificate, text: message)
        default: nil
        }
    }
}

extension HandshakeError: LocalizedError, DescribedError {}
