internal import Pintle
internal import PintleAttacks
internal import PintleConsole

/// The options of a rehearsal, checked against each other.
struct RehearsalRequest {
    /// The limit of `--timeout` in seconds; `nil` to derive it from the time that the client takes at the right server.
    let timeout: Double?
    /// The number of attacks that run at the same time.
    private(set) var parallel: Int
    /// The hosts of `--host`.
    private(set) var hosts: [ServerEndpoint] = []
    /// The address of the proxy; `nil` for a client that connects to the servers.
    private(set) var proxyAddress: Proxy.Address?
    /// The address of `--listen`, an IPv4 or IPv6 literal.
    private(set) var listenLiteral: String?
    /// A Boolean value that indicates whether the client runs with its own /etc/hosts.
    let resolvesByHosts: Bool
    /// `nil` without `--evidence`.
    let evidence: Evidence?

    /// A Boolean value that indicates whether results name their host.
    var namesHosts: Bool { !hosts.isEmpty }

    /// The folder of the evidence.
    struct Evidence {
        let path: String
        /// A Boolean value that indicates whether requests are written as they came.
        let showsContent: Bool
    }

    init(_ arguments: ParsedArguments) throws(ToolError) {
        timeout = arguments[.timeout].map { Double($0) / 1_000 }
        parallel = arguments[.parallelAttacks]
        resolvesByHosts = arguments[.resolveBy] == .hosts
        evidence = arguments[.evidence].map { .init(path: $0, showsContent: arguments.has(.evidenceContent)) }
        let (isProxied, serves) = (arguments.has(.proxy), arguments.has(.serve))
        hosts = try isProxied ? Self.proxiedHosts(arguments) : Self.host(arguments)
        if arguments.has(.resolveBy) {
            guard !isProxied, !serves, hosts.first.map({ $0.host.ipAddress == nil }) == true else {
                throw .usage("--resolve-by goes with --host and a name, and without --proxy and --serve", of: .rehearse)
            }
        }
        if isProxied { proxyAddress = Proxy.Address() }
        if let text = arguments[.listen] {
            let address = try Self.address(text, isProxied: isProxied)
            listenLiteral = address.literal
            if isProxied { proxyAddress = address }
        }
        // Two proxies cannot listen at one port.
        guard proxyAddress.map({ $0.port != 0 }) == true, !serves else { return }
        guard !arguments.has(.parallelAttacks) || parallel == 1 else {
            throw .usage("--listen with a port runs one attack at a time: leave --parallel out", of: .rehearse)
        }
        parallel = 1
    }

    /// Returns the host in the client's URLs; empty without `--host`.
    private static func host(_ arguments: ParsedArguments) throws(ToolError) -> [ServerEndpoint] {
        var hosts: [ServerEndpoint] = []
        for text in arguments[.rehearsedHost] {
            guard let name = try? ServerName(text) else {
                throw .usage("--host takes a name or an address alone, such as app.example.com", of: .rehearse)
            }
            hosts.append(ServerEndpoint(host: name))
        }
        guard hosts.count <= 1 else { throw .usage("several --host go with --proxy", of: .rehearse) }
        return hosts
    }

    private static func proxiedHosts(_ arguments: ParsedArguments) throws(ToolError) -> [ServerEndpoint] {
        var hosts: [ServerEndpoint] = []
        for text in arguments[.rehearsedHost] {
            let endpoint = try HostArgument.endpoint(text)
            guard endpoint.host.ipAddress?.isIPv6 != true else {
                throw .usage("--proxy answers for names and IPv4 addresses, and --host has \(endpoint)", of: .rehearse)
            }
            // One name has one certificate, so its ports would be the same host to the client.
            guard !hosts.contains(where: { $0.host == endpoint.host }) else {
                throw .usage("--host has \(endpoint.host) twice", of: .rehearse)
            }
            hosts.append(endpoint)
        }
        guard !hosts.isEmpty else {
            throw .usage(
                "--proxy answers for named hosts only: add --host NAME, such as api.example.com", of: .rehearse,
                code: "missing-argument")
        }
        return hosts
    }

    /// Returns the address of `--listen`.
    ///
    /// - Parameter isProxied: `true` for the address of a proxy, which may have a port.
    static func address(_ text: String, isProxied: Bool) throws(ToolError) -> Proxy.Address {
        guard let address = Proxy.Address(listening: text), isProxied || address.port == 0 else {
            throw .usage(
                "--listen takes one address of this machine, such as 192.0.2.7"
                    + (isProxied ? " or 192.0.2.7:8080" : ""), of: .rehearse)
        }
        return address
    }
}

extension Proxy.Address {
    /// Reads one address of this machine, with or without a port.
    init?(listening text: String) {
        let name: ServerName
        let port: UInt16
        if let address = try? ServerName(text) {
            (name, port) = (address, 0)
        } else if let endpoint = ServerEndpoint(text) {
            (name, port) = (endpoint.host, endpoint.port)
        } else {
            return nil
        }
        guard let ip = name.ipAddress, !ip.isMappedIPv4,
            !["0.0.0.0", "::", "255.255.255.255"].contains(name.description)
        else { return nil }
        self.init(name.description, port: port)
    }
}
