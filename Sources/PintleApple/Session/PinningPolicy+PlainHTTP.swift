import Foundation
import Pintle

extension PinningPolicy {
    /// Returns whether a redirect may be followed: never from `https` to something else, and over `http` only to a host
    /// that the policy has nothing to say about.
    func allowsRedirect(from source: URL?, to target: URL?) -> Bool {
        guard let target, source?.scheme?.lowercased() != "https" || target.scheme?.lowercased() == "https" else {
            return false
        }
        return allowsPlainHTTP(to: target)
    }

    /// Whether a request may go to this address as far as TLS is concerned: over `http` only to a host that the policy
    /// has nothing to say about. Other schemes are not meant.
    package func allowsPlainHTTP(to url: URL) -> Bool {
        guard url.scheme?.lowercased() == "http" else { return true }
        guard let name = url.host, let host = try? ServerName(name), let port = UInt16(exactly: url.port ?? 80) else {
            return false
        }
        return allowsPlainHTTP(to: ServerEndpoint(host: host, port: port), ports: portsOfRules)
    }
}
