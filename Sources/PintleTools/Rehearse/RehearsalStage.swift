internal import PintleTestKit

/// The servers of one run of the client: an attack at one host, and the right server at the others. They stop when the last
/// reference is released.
final class RehearsalStage {
    /// One for each host.
    let servers: [AttackServer]
    /// The only way to the servers for a client that comes through a proxy.
    let proxy: AttackProxy?

    /// - Parameters:
    ///   - attack: The attack; `nil` for the right server everywhere.
    ///   - index: The host of the attack.
    ///   - proxied: The address and port of the proxy; `nil` for a client that connects to the servers.
    ///   - keepsTranscripts: `true` to keep what the connections bring.
    init(
        _ attack: Attack?, at index: Int, of hosts: [RehearsedHost], proxied: ProxyAddress?, keepsTranscripts: Bool
    ) throws(ToolError) {
        do {
            var servers: [AttackServer] = []
            for (number, host) in hosts.enumerated() {
                let role = number == index ? attack ?? host.catalogue.control : host.catalogue.control
                servers.append(try AttackServer(role, clientPort: host.clientPort, keepsTranscripts: keepsTranscripts))
            }
            let routes = servers.flatMap(\.routes)
            proxy = try proxied.map { try AttackProxy(routes, listeningAt: $0.literal, port: $0.port) }
            self.servers = servers
        } catch {
            throw .unusable(
                "no-server", "a server cannot be started on loopback: \(error)",
                hint: proxied?.literal == nil ? nil : "--listen takes a free port at an address of this machine")
        }
    }

    deinit {
        proxy?.close()
        for server in servers { server.close() }
    }

    /// Waits until the client's bytes have been read. Returns `false` if a connection stays open, unless the server has answered
    /// all its requests.
    func waitUntilQuiet(_ index: Int) -> Bool {
        // Until the proxy has relayed everything, the servers have not seen the end.
        let isProxyIdle = proxy?.waitUntilIdle(seconds: 2) ?? true
        return servers[index].waitUntilQuiet() && (isProxyIdle || proxy?.hasOnlyTunnels == true)
    }
}

/// The address that a proxy listens at.
struct ProxyAddress: Sendable {
    /// An IPv4 or IPv6 literal; `nil` for 127.0.0.1.
    var literal: String?
    /// With 0 the system chooses a port.
    var port: UInt16 = 0

    /// A Boolean value that indicates whether clients of other users or machines can be meant by the address.
    var isReachable: Bool { literal.map { $0 != "127.0.0.1" && $0 != "::1" } ?? false }

    /// The URL of a proxy that listens here at a port.
    func url(port: UInt16) -> String {
        let host = literal ?? "127.0.0.1"
        return "http://" + (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
    }
}
