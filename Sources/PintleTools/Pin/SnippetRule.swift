internal import Pintle

/// The rule for one host that a snippet is made of.
struct SnippetRule {
    let endpoint: ServerEndpoint
    var pins: [PublicKeyPin] = []
    var backupPins: [PublicKeyPin] = []

    /// Returns the rules: servers and certificates give the pin of their leaf, keys and requests give backup pins.
    ///
    /// - Parameter host: the host of the command line, which replaces the certificates' own names.
    static func rules(for listings: [PinListing], host: String?) throws(ToolError) -> [SnippetRule] {
        var rules: [SnippetRule] = []
        func add(_ pin: PublicKeyPin?, to endpoint: ServerEndpoint) {
            guard let index = rules.firstIndex(where: { $0.endpoint == endpoint }) else {
                rules.append(SnippetRule(endpoint: endpoint, pins: pin.map { [$0] } ?? []))
                return
            }
            if let pin, !rules[index].pins.contains(pin) { rules[index].pins.append(pin) }
        }
        for listing in listings {
            if let server = listing.server { add(listing.leaf?.publicKeyPin, to: server.endpoint) }
        }
        let files = listings.filter { $0.server == nil }
        let endpoint = try host.map { text throws(ToolError) in try HostArgument.endpoint(text) }
        let named = endpoint ?? files.lazy.compactMap(\.leaf).compactMap(\.firstHost).first
        for leaf in files.compactMap(\.leaf) {
            guard let target = try target(named, rules) else { throw nameless }
            add(leaf.publicKeyPin, to: target)
        }
        guard !rules.isEmpty else {
            throw .usage("there are only backup keys; add the server or its certificate", of: .pin)
        }
        let backups = files.flatMap(\.entries).compactMap(\.backupPin)
        for index in rules.indices {
            for pin in backups where !rules[index].backupPins.contains(pin) && !rules[index].pins.contains(pin) {
                rules[index].backupPins.append(pin)
            }
        }
        return rules
    }

    /// Returns the index of the rule for certificates from files: that of the only server, or of the host that was named.
    private static func target(_ named: ServerEndpoint?, _ rules: [SnippetRule]) throws(ToolError) -> ServerEndpoint? {
        if rules.count > 1 {
            throw .usage("to which of the hosts do the certificates belong? run it for each", of: .pin)
        }
        return rules.first?.endpoint ?? named
    }

    private static var nameless: ToolError {
        .usage("no certificate names a host; say which: --host HOST", of: .pin, code: "missing-host")
    }
}

extension PinListing {
    /// A Boolean value that indicates whether it is a file whose certificate has no subject alternative name.
    var isNameless: Bool { server == nil && leaf?.lacksAlternativeNames == true }

    /// The first certificate in the listing.
    fileprivate var leaf: Certificate? {
        entries.lazy.compactMap(\.item.certificate).first
    }
}

extension PinEntry {
    fileprivate var backupPin: PublicKeyPin? {
        switch item {
        case .certificate: nil
        case .request(let request): request.publicKeyPin
        case .key(let key, _): key.pin
        }
    }
}

extension Certificate {
    fileprivate var lacksAlternativeNames: Bool { subjectAlternativeNames?.isEmpty ?? true }

    /// The first DNS name that is a host and not a wildcard, or the first address. If there are no alternative names, as in
    /// certificates of `openssl req -x509`, the common name is suggested, although no client accepts it.
    fileprivate var firstHost: ServerEndpoint? {
        for name in subjectAlternativeNames ?? [] {
            switch name {
            case .dns(let octets):
                if let host = try? ServerName(String(decoding: octets, as: UTF8.self)) {
                    return ServerEndpoint(host: host)
                }
            case .ipAddress(let octets):
                if let address = IPAddress(octets: octets) { return ServerEndpoint(host: ServerName(address)) }
            default: break
            }
        }
        guard lacksAlternativeNames, let name = subject.commonName, name == "localhost" || name.contains(".") else {
            return nil
        }
        return (try? ServerName(name)).map { ServerEndpoint(host: $0) }
    }
}
