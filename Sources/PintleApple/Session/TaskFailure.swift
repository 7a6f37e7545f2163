import Foundation
import Pintle

/// The reason why a task fails although its server was not refused.
package enum TaskFailure: Sendable, Hashable {
    /// The request was for `https`, and the response came over `http`.
    case insecureRedirect
    /// The response came over `http` from a host that the policy covers.
    case plainHTTP
    /// The response came over `http` from an address that leads to another host than the one it names.
    case alias(AddressAlias)
    /// The server asked for a client certificate, got none, and ended the connection.
    case clientCertificate(ServerEndpoint)
    /// A guarded task belongs to a session for which no policy is known.
    case noPolicy
    /// The system would ask the task's own delegate about servers, and not the policy.
    case unguardedDelegate

    /// The text and the remedy for ``noPolicy``.
    package static let noPolicyText = (
        message: "the delegate of this task is guarded, and no policy is known for its session",
        hint: "call guarding of the PinningSessionDelegate that has the policy"
    )

    /// The text and the remedy for ``unguardedDelegate``.
    package static let unguardedText = (
        message: "the delegate of this task answers challenges about servers, so the policy would not be asked",
        hint: "pass the result of guarding"
    )

    /// The code of the error.
    package var code: URLError.Code {
        switch self {
        case .insecureRedirect, .plainHTTP: .appTransportSecurityRequiresSecureConnection
        case .alias: .badURL
        case .clientCertificate: .clientCertificateRequired
        case .noPolicy, .unguardedDelegate: .secureConnectionFailed
        }
    }
}

extension PinningPolicy {
    /// Returns `true` if a redirect may be followed: never from TLS to a URL without TLS, and without TLS only to a
    /// host that the policy does not cover.
    func allowsRedirect(from source: URL?, to target: URL?) -> Bool {
        guard let target, !Self.isSecure(source) || Self.isSecure(target) else { return false }
        return allowsPlainHTTP(to: target)
    }

    private static func isSecure(_ url: URL?) -> Bool { ["https", "wss"].contains(url?.scheme?.lowercased()) }

    /// The schemes without TLS, with their default ports.
    private static let plainSchemes = ["http": 80, "ws": 80, "ftp": 21]

    static func isPlain(_ url: URL) -> Bool { url.scheme.map { plainSchemes[$0.lowercased()] != nil } ?? false }

    /// Returns `true` unless the URL would send a request without TLS (`http`, `ws`, `ftp`) to a host that the policy
    /// covers.
    ///
    /// A policy covers a host by a rule for it, on any port. It covers every host if it does not leave hosts without a
    /// rule to the system's trust.
    package func allowsPlainHTTP(to url: URL) -> Bool {
        guard let usual = url.scheme.flatMap({ Self.plainSchemes[$0.lowercased()] }) else { return true }
        guard let server = Self.server(of: url, usualPort: usual) else { return false }
        return allowsPlainHTTP(to: server, ports: portsOfRules)
    }

    /// Returns `true` for an `https` URL whose host the policy covers, so that it would not allow plain `http` there.
    func coversHTTPS(of url: URL?) -> Bool {
        guard let url, url.scheme?.lowercased() == "https", let server = Self.server(of: url, usualPort: 443) else {
            return false
        }
        return covers(server)
    }

    /// Returns `true` if the policy has a rule for the host, on any port, or does not leave hosts without a rule to the
    /// system's trust.
    func covers(_ server: ServerEndpoint) -> Bool { !allowsPlainHTTP(to: server, ports: portsOfRules) }

    private static func server(of url: URL, usualPort: Int) -> ServerEndpoint? {
        guard let name = url.host, let host = try? ServerName(name), let port = UInt16(exactly: url.port ?? usualPort)
        else {
            return nil
        }
        return ServerEndpoint(host: host, port: port)
    }
}
