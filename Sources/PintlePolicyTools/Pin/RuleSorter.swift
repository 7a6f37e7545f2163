package import Pintle
internal import PintleConsole
internal import PintleText

/// Sorts the sources of a command line into rules. A key gets into the rule of a host for one of three reasons. The
/// host is a server that showed the key, its certificate or request names the host, or the user named the host.
struct RuleSorter {
    private(set) var rules: [SnippetRule] = []
    /// The host of the command line, for sources without a name.
    let host: ServerEndpoint?
    /// A Boolean value that indicates whether there is one certificate of a server, and no server. Only then may the
    /// host of the command line replace its common name.
    private var isOnlyCertificate = false
    /// The first certificate that names other hosts than the command line does.
    private var other: (source: String, names: String)?

    init(host: ServerEndpoint?) {
        self.host = host
    }

    /// Makes rules of servers and certificates: each has the pin of the leaf. Keys and requests become backup pins.
    mutating func sort(_ listings: [PinListing]) throws(ToolError) {
        for listing in listings {
            guard let server = listing.server else { continue }
            let leaf = listing.entries.lazy.compactMap(\.item.certificate).first
            add(leaf?.publicKeyPin, to: server.endpoint)
            // Without the root, the policy would refuse the server for which it was made.
            guard let anchor = server.ownAnchor.flatMap({ try? Certificate(der: $0) }),
                let index = rules.firstIndex(where: { $0.endpoint == server.endpoint }),
                !rules[index].anchors.contains(anchor)
            else { continue }
            rules[index].anchors.append(anchor)
        }
        let servers = rules.map(\.endpoint)
        let files = listings.filter { $0.server == nil }
        isOnlyCertificate = servers.isEmpty && files.reduce(0) { $0 + $1.leaves.count } == 1
        for file in files {
            for leaf in file.leaves where !isNameless(leaf) { try add(leaf, of: file.source, servers) }
        }
        for file in files {
            for leaf in file.leaves where isNameless(leaf) {
                let name = "the certificate in \(Self.name(file.source))"
                if leaf.certificate == nil, host == nil {
                    // Its names may be those of another host than the rule's.
                    throw .usage(
                        "\(name) breaks the standard, so its names are not known; say whose it is: --host HOST",
                        of: .pin, code: "missing-host")
                }
                add(leaf.publicKeyPin, to: try target(of: name))
            }
            if file.leaves.isEmpty, let authority = file.entries.first(where: { $0.item.isCertificate })?.item {
                add(authority.publicKeyPin, to: try target(ofAuthorityIn: file.source))
            }
        }
        if let host, let other, !rules.contains(where: { $0.endpoint.host == host.host }) {
            throw .usage(
                "--host \(host.host): \(Self.name(other.source)) names \(other.names); leave --host out, or add a "
                    + "certificate that names \(host.host)", of: .pin, code: "other-host")
        }
        guard !rules.isEmpty else {
            throw .usage("there are only backup keys; add the server or its certificate", of: .pin)
        }
        try addBackups(of: files)
    }

    // MARK: Certificates

    /// Returns whether a certificate names no server. Clients do not look at the common name, so the host of the
    /// command line replaces it.
    private func isNameless(_ leaf: SourceItem) -> Bool {
        guard let certificate = leaf.certificate else { return true }
        guard certificate.lacksAlternativeNames else { return false }
        return certificate.firstHost == nil || host != nil && isOnlyCertificate
    }

    /// Adds a certificate with names to each server that it names, or else to the rule of the host that it names.
    private mutating func add(
        _ leaf: SourceItem, of source: String, _ servers: [ServerEndpoint]
    ) throws(ToolError) {
        guard let certificate = leaf.certificate else { return }
        let key = certificate.publicKeyPin
        func isNamed(_ host: ServerName) -> Bool {
            certificate.isFor(host) || certificate.lacksAlternativeNames && certificate.firstHost?.host == host
        }
        let named = servers.filter { isNamed($0.host) }
        guard named.isEmpty else {
            for server in named { add(key, to: server) }
            return
        }
        if let host, isNamed(host.host) { return add(key, to: host) }
        let names = GeneralName.list(certificate.subjectAlternativeNames ?? [])
        if other == nil { other = (source, names) }
        guard let endpoint = certificate.firstHost else {
            if let host {
                throw .usage(
                    "\(Self.name(source)) names \(names), so no client accepts it for \(host.host); leave it out, or "
                        + "have it issued for that name", of: .pin, code: "other-host")
            }
            throw .usage(
                "\(Self.name(source)) names \(names), which is no host; say which: --host HOST", of: .pin,
                code: "missing-host")
        }
        add(key, to: endpoint)
    }

    private mutating func add(_ key: PublicKeyPin?, to endpoint: ServerEndpoint) {
        let pin = key.map { Pin(.publicKey($0)) }
        guard let index = rules.firstIndex(where: { $0.endpoint == endpoint }) else {
            rules.append(SnippetRule(endpoint: endpoint, pins: pin.map { [$0] } ?? []))
            return
        }
        if let pin, !rules[index].pins.contains(pin) { rules[index].pins.append(pin) }
    }

    // MARK: Sources without names

    /// Returns the rule for a source without a name: that of the command line's host, or the only one.
    private func target(of source: String) throws(ToolError) -> ServerEndpoint {
        if let host {
            let endpoints = rules.map(\.endpoint)
            let sameHost = endpoints.filter { $0.host == host.host }
            if endpoints.contains(host) || sameHost.isEmpty { return host }
            guard let endpoint = sameHost.first, sameHost.count == 1, host.port == Self.defaultPort else {
                throw .usage(
                    "--host \(host): there are rules for \(hosts); write the host with the port of one of them",
                    of: .pin, code: "other-host")
            }
            return endpoint
        }
        guard let only = rules.first?.endpoint else {
            throw .usage("no certificate names a host; say which: --host HOST", of: .pin, code: "missing-host")
        }
        guard rules.count == 1 else {
            throw .usage(
                "\(source) names no host, and there are rules for \(hosts); say whose it is: --host HOST, or run "
                    + "pin for each host", of: .pin, code: "missing-host")
        }
        return only
    }

    /// An authority signs for many hosts, so its key gets into a rule only if the user says so.
    private func target(ofAuthorityIn source: String) throws(ToolError) -> ServerEndpoint {
        guard host == nil, !rules.isEmpty else { return try target(of: source) }
        throw .usage(
            "\(Self.name(source)) has only certificates of authorities, which name no server; leave it out, or say "
                + "which host pins it: --host HOST", of: .pin, code: "missing-host")
    }

    private static let defaultPort: UInt16 = 443

    private var hosts: String {
        TextLayout.list(
            rules.map { $0.endpoint.port == Self.defaultPort ? "\($0.endpoint.host)" : "\($0.endpoint)" }, width: 80)
    }

    private static func name(_ source: String) -> String { source == "-" ? "stdin" : source }

    // MARK: Backup pins

    /// Adds the keys and requests of files as backup pins. A request gets into the rules of the hosts that it names.
    /// Everything without names gets into the rule of the command line's host, or into the only rule.
    mutating func addBackups(of files: [PinListing]) throws(ToolError) {
        for file in files {
            for entry in file.entries {
                if case .request(let request) = entry.item {
                    try request.requireReadableNames(from: Self.name(file.source))
                }
                switch entry.item {
                case .certificate, .unfit: continue
                case .request(let request) where !request.names.isEmpty:
                    let named = rules.indices.filter { request.names.include(rules[$0].endpoint.host) }
                    guard !named.isEmpty else {
                        throw .usage(
                            "\(Self.name(file.source)) names \(GeneralName.list(request.names)), and there are rules "
                                + "for \(hosts); add the certificate or server of that host, or run pin for it alone",
                            of: .pin, code: "other-host")
                    }
                    for index in named { rules[index].addBackup(request.publicKeyPin) }
                case .request, .key:
                    let endpoint = try target(of: "the key in \(Self.name(file.source))")
                    guard let index = rules.firstIndex(where: { $0.endpoint == endpoint }) else {
                        throw .usage(
                            "there is no pin in use for \(endpoint.host); add the server or its certificate", of: .pin)
                    }
                    rules[index].addBackup(entry.item.publicKeyPin)
                }
            }
        }
    }

    /// Adds backup pins to rules that were made otherwise.
    static func adding(
        _ files: [PinListing], to rules: [SnippetRule], host: ServerEndpoint?
    ) throws(ToolError) -> [SnippetRule] {
        var sorter = RuleSorter(host: host)
        sorter.rules = rules
        if !rules.isEmpty { try sorter.addBackups(of: files) }
        return sorter.rules
    }
}

extension PinListing {
    /// The certificates of servers in a file. A certificate's chain stands beside it and has no pin of its own.
    fileprivate var leaves: [SourceItem] {
        let items = entries.map(\.item)
        return FileChains(items).leaves.map { items[$0] }
    }

    /// Returns the names of servers in the certificates of a file that have no rule of their own.
    func names(besides rules: [SnippetRule]) -> [GeneralName] {
        guard server == nil else { return [] }
        let hosts = Set(rules.map(\.endpoint.host))
        return leaves.flatMap { $0.certificate?.subjectAlternativeNames ?? [] }.filter { name in
            switch name {
            case .dns(let octets):
                (try? ServerName(String(decoding: octets, as: UTF8.self))).map { !hosts.contains($0) } ?? true
            case .ipAddress(let octets): IPAddress(octets: octets).map { !hosts.contains(ServerName($0)) } ?? false
            default: false
            }
        }
    }

    /// A Boolean value that indicates whether it is a file with a certificate that has no subject alternative name.
    var isNameless: Bool {
        server == nil && leaves.contains { $0.certificate?.lacksAlternativeNames == true }
    }

    /// The items whose keys get pins: the leaf of a server, the leaves of a file, keys and requests. A file without a
    /// leaf has the first of its authorities.
    var pinnedItems: [SourceItem] {
        guard server == nil else { return Array(entries.lazy.map(\.item).filter(\.isCertificate).prefix(1)) }
        let leaves = leaves
        let certificates =
            leaves.isEmpty ? entries.lazy.map(\.item).filter(\.isCertificate).prefix(1).map(\.self) : leaves
        return certificates + entries.map(\.item).filter { !$0.isCertificate }
    }
}

extension GeneralName {
    /// Returns names as text, for an error: `a.example, b.example, ...`
    package static func list(_ names: [GeneralName]) -> String { TextLayout.list(names.map(\.description), width: 80) }

    /// A Boolean value that indicates whether it is the name of all hosts of a domain.
    var isWildcard: Bool { if case .dns(let octets) = self { octets.starts(with: "*.".utf8) } else { false } }
}
