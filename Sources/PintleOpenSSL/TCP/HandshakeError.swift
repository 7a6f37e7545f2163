public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Why there is no checked connection: what happened, and what to do about it.
///
/// `message` and `hint` are lower case without a full stop; nothing in them comes from the peer
/// unescaped, and no credential is ever in them. No live handle is kept.
public struct HandshakeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Stable strings: scripts may compare ``Code/rawValue``.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The host or port of a target cannot be connected to as it is written.
        case invalidHost = "invalid-host"
        /// The client was set up with something that TLS cannot carry.
        case invalidConfiguration = "invalid-configuration"
        /// A proxy setting (`HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`) cannot be read.
        case invalidProxy = "invalid-proxy"
        /// A proxy setting that is understood, and not honoured (`https://`, `socks4://`, ...).
        case proxyUnsupported = "proxy-unsupported"

        /// The resolver knows no address of the host.
        case nameNotResolved = "name-not-resolved"
        /// No process listens on the port.
        case connectionRefused = "connection-refused"
        /// TCP took longer than the time-out.
        case connectTimeout = "connect-timeout"
        /// TCP failed otherwise: no route, network down, reset.
        case connectionFailed = "connection-failed"

        /// The proxy does not connect to the server.
        case proxyRefused = "proxy-refused"
        /// The proxy wants other credentials than its setting has.
        case proxyAuthenticationRequired = "proxy-authentication-required"
        /// What answered is not the kind of proxy that was configured, or exceeds every limit.
        case proxyProtocol = "proxy-protocol"
        /// The proxy took longer to connect than the time-out.
        case proxyTimeout = "proxy-timeout"

        /// The handshake took longer than the time-out.
        case handshakeTimeout = "handshake-timeout"
        /// The peer speaks something else than TLS.
        case notTLS = "not-tls"
        /// The peer's TLS is older than the minimum.
        case protocolVersion = "protocol-version"
        /// The peer ended the handshake with an alert; ``HandshakeError/alert`` names it.
        case tlsAlert = "tls-alert"
        /// The peer closed the connection before the handshake had ended.
        case closedDuringHandshake = "closed-during-handshake"
        /// The handshake broke for another reason, which the message gives, in OpenSSL's words where they are its.
        case handshakeFailed = "handshake-failed"
        /// The presented certificates are too many or too large (`PresentedChain.Limits`); none was parsed.
        case limitsExceeded = "limits-exceeded"
        /// A presented certificate cannot be parsed.
        case malformedCertificate = "malformed-certificate"
        /// The caller's verdict was a refusal; the peer was sent an alert.
        case rejectedByVerifier = "rejected-by-verifier"
        /// A handshake came to an end without a verdict: OpenSSL asked for none, asked twice, or not about the server that
        /// SNI names. Never seen; refused all the same.
        case verifierNotCalled = "verifier-not-called"

        /// On a checked connection: nothing was read or written in time.
        case ioTimeout = "io-timeout"
        /// On a checked connection: it ended without close_notify, so what was read may be incomplete.
        case truncated
        /// On a checked connection: the peer sent what is no TLS, or what does not decrypt.
        case tlsFailed = "tls-failed"
        /// Memory or a descriptor was not to be had, or OpenSSL could not be set up.
        case noResources = "no-resources"
    }

    /// The kind of error, stable, for machines.
    public let code: Code
    /// The event and its place, for people. Lower case, no full stop.
    public let message: String
    /// The remedy, where one is known.
    public let hint: String?
    /// True when nothing is known about the peer's certificate: it had not arrived. The command line's
    /// exit code 3 is for these.
    public let isBeforeCertificate: Bool
    /// The name of the alert in RFC 8446 section 6, sent by the peer (`tls-alert`) or by us
    /// (`rejected-by-verifier`).
    public let alert: String?

    init(
        _ code: Code, _ message: String, hint: String? = nil, isBeforeCertificate: Bool = true, alert: String? = nil
    ) {
        self.code = code
        self.message = message
        self.hint = hint
        self.isBeforeCertificate = isBeforeCertificate
        self.alert = alert
    }

    /// The message and, where there is one, the hint.
    public var description: String { hint.map { "\(message); \($0)" } ?? message }

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
    /// Where OpenSSL stopped at certificates before any decision could be asked about them: a verdict too.
    package var pathFailure: PathFailure? {
        switch code {
        case .limitsExceeded: PathFailure(.limitsExceeded, text: message)
        case .malformedCertificate: PathFailure(.malformedCertificate, text: message)
        default: nil
        }
    }
}

/// Foreign bytes as one short line of printable ASCII, for messages: a peer must not be able to move the
/// cursor, or to write lines of its own.
func printable(_ bytes: some Collection<UInt8>, limit: Int = 80) -> String {
    var text = ""
    for byte in bytes.prefix(limit) {
        text.unicodeScalars.append((0x20...0x7E).contains(byte) ? Unicode.Scalar(byte) : "?")
    }
    return bytes.count > limit ? text + "..." : text
}

extension HandshakeError: LocalizedError, DescribedError {}
