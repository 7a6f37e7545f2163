internal import Pintle
internal import PintleAttacks

/// The options of a rehearsal, checked against each other.
struct RehearsalRequest {
    /// The limit of `--timeout` in seconds.
    private(set) var timeout: Double?
    private(set) var parallel = RehearsalRequest.standardParallel
    /// The hosts of `--host`.
    private(set) var hosts: [ServerEndpoint] = []
    /// `nil` without `--proxy`.
    private(set) var proxied: Proxy.Address?
    /// The address of `--listen`, an IPv4 or IPv6 literal.
    private(set) var address: String?
    /// A Boolean value that indicates whether the client runs with its own /etc/hosts.
    private(set) var resolvesByHosts = false
    /// `nil` without `--evidence`.
    private(set) var evidence: Evidence?

    /// The default of `--parallel`.
    static let standardParallel = 4

    /// The folder of the evidence.
    struct Evidence {
        let path: String
        /// A Boolean value that indicates whether requests are written as they came.
        let showsContent: Bool
    }

    init(_ arguments: ParsedArguments) throws(ToolError) {
        try readNumbers(arguments)
        let (isProxied, serves) = (arguments.has(.proxy), arguments.has(.serve))
        try readHosts(arguments, isProxied: isProxied, serves: serves)
        if let text = arguments.value(of: .listen) {
            guard isProxied || serves else { throw .usage("--listen goes with --serve or --proxy", of: .rehearse) }
            try readAddress(text, isProxied: isProxied)
        } else if isProxied {
            proxied = Proxy.Address()
        }
        if let path = arguments.value(of: .evidence) {
            evidence = .init(path: path, showsContent: arguments.has(.evidenceContent))
        } else if arguments.has(.evidenceContent) {
            throw .usage("--evidence-content goes with --evidence", of: .rehearse)
        }
        // Two proxies cannot listen at one port.
        guard proxied.map({ $0.port != 0 }) == true, !serves else { return }
        guard !arguments.has(.parallelAttacks) || parallel == 1 else {
            throw .usage("--listen with a port runs one attack at a time: leave --parallel out", of: .rehearse)
        }
        parallel = 1
    }

    private mutating func readNumbers(_ arguments: ParsedArguments) throws(ToolError) {
        if let text = arguments.value(of: .timeout) {
            guard let seconds = Double(text), seconds > 0, seconds <= 3_600 else {
                throw .usage("--timeout takes seconds, more than 0 and at most 3600", of: .rehearse)
            }
            timeout = seconds
        }
        if let text = arguments.value(of: .parallelAttacks) {
            guard let number = Int(text), (1...64).contains(number) else {
                throw .usage("--parallel takes a number from 1 to 64", of: .rehearse)
            }
            parallel = number
        }
    }

    private mutating func readHosts(
        _ arguments: ParsedArguments, isProxied: Bool, serves: Bool
    ) throws(ToolError) {
        for text in arguments.values(of: .rehearsedHost) {
            guard isProxied else {
                guard let name = try? ServerName(text) else {
                    throw .usage("--host takes a name or an address alone, such as app.example.com", of: .rehearse)
                }
                hosts.append(ServerEndpoint(host: name))
                continue
            }
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
        if isProxied {
            guard !hosts.isEmpty else {
                throw .usage(
                    "--proxy answers for named hosts only: add --host NAME, such as api.example.com", of: .rehearse,
                    code: "missing-argument")
            }
        } else if hosts.count > 1 {
            throw .usage("several --host go with --proxy", of: .rehearse)
        }
        guard let means = arguments.value(of: .resolveBy) else { return }
        guard means == "client" || means == "hosts" else {
            throw .usage("--resolve-by takes client or hosts", of: .rehearse)
        }
        guard !isProxied, !serves, hosts.first.map({ $0.host.ipAddress == nil }) == true else {
            throw .usage("--resolve-by goes with --host and a name, and without --proxy and --serve", of: .rehearse)
        }
        resolvesByHosts = means == "hosts"
    }

    private mutating func readAddress(_ text: String, isProxied: Bool) throws(ToolError) {
        let address: (literal: String, port: UInt16)?
        if let name = try? ServerName(text) {
            address = (name.description, 0)
        } else if isProxied, let endpoint = ServerEndpoint(text) {
            address = (endpoint.host.description, endpoint.port)
        } else {
            address = nil
        }
        guard let address, let ip = try? ServerName(address.literal).ipAddress, !ip.isMappedIPv4,
            !["0.0.0.0", "::", "255.255.255.255"].contains(address.literal)
        else {
            throw .usage(
                "--listen takes one address of this machine, such as 192.0.2.7"
                    + (isProxied ? " or 192.0.2.7:8080" : ""), of: .rehearse)
        }
        self.address = address.literal
        if isProxied { proxied = Proxy.Address(address.literal, port: address.port) }
    }
}
