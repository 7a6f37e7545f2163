import Foundation
import Pintle

extension PinningPolicy {
    /// Whether a request may go to this address as far as TLS is concerned: over `http` only to a host that the policy
    /// has nothing to say about. A rule for one port speaks for every port, or whoever can alter a link could drop the
    /// pins. Other schemes are not meant.
    package func allowsPlainHTTP(to url: URL) -> Bool {
        guard url.scheme?.lowercased() == "http" else { return true }
        guard unpinnedHosts == .systemTrust, let name = url.host, let host = try? ServerName(name) else { return false }
        guard let own = UInt16(exactly: url.port ?? 80) else { return false }
        return Set(hosts.compactMap(\.port) + [own]).allSatisfy {
            rule(for: ServerEndpoint(host: host, port: $0)) == nil
        }
    }
}
