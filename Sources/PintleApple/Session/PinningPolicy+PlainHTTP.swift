import Foundation
import Pintle

extension PinningPolicy {
    /// Returns whether a redirect may be followed: never from `https` to something else, and over `http` only to a host
    /// that the policy has nothing to say about.
    func allowsRedirect(from source: URL?, to target: URL?) -> Bool {
        guard let target, !Self.isSecure(source) || Self.isSecure(target) else { return false }
        return allowsPlainHTTP(to: target)
    }

    private static func isSecure(_ url: URL?) -> Bool { ["https", "wss"].contains(url?.scheme?.lowercased()) }

    /// The schemes that send in the clear, with their ports.
    private static let plainSchemes = ["http": 80, "ws": 80, "ftp": 21]

    /// Returns whether a request may go to this address as far as TLS is concerned: in the clear (`http`, `ws`, `ftp`) only
    /// to a host that the policy has nothing to say about.
    package func allowsPlainHTTP(to url: URL) -> Bool {
        guard let usual = url.scheme.flatMap({ Self.plainSchemes[$0.lowercased()] }) else { return true }
        guard let server = Self.server(of: url, usualPort: usual) else { return false }
        return allowsPlainHTTP(to: server, ports: portsOfRules)
    }

    /// Returns true for the `https` URL of a host that the policy covers, one to which it would allow no plain `http`.
    func coversHTTPS(of url: URL?) -> Bool {
        guard let url, url.scheme?.lowercased() == "https", let server = Self.server(of: url, usualPort: 443) else {
            return false
        }
        return !allowsPlainHTTP(to: server, ports: portsOfRules)
    }

    private static func server(of url: URL, usualPort: Int) -> ServerEndpoint? {
        guard let name = url.host, let host = try? ServerName(name), let port = UInt16(exactly: url.port ?? usualPort)
        else {
            return nil
        }
        return ServerEndpoint(host: host, port: port)
    }
}
