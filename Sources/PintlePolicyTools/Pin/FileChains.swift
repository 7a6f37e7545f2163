internal import Pintle

/// The chains of a file: which of its certificates are those of servers, and which are their authorities'.
struct FileChains {
    /// The indices of the certificates of servers, in the order of the file. A file that only has authorities has none.
    let leaves: [Int]
    /// The place of each certificate in its chain, by its index.
    private var places: [Int: (depth: Int, count: Int)] = [:]

    /// The depth of a certificate in its chain, and the length of the chain.
    func place(of index: Int) -> (depth: Int, count: Int) { places[index] ?? (0, 1) }

    init(_ items: [SourceItem]) {
        let certificates = items.indices.filter { items[$0].isCertificate }
        let issuers = Set(
            certificates.compactMap { index in
                items[index].issuerDER == items[index].subjectDER ? nil : items[index].issuerDER
            })
        func isAuthority(_ index: Int) -> Bool {
            if let certificate = items[index].certificate, !certificate.isCA, certificate.namesServer { return false }
            if let subject = items[index].subjectDER, issuers.contains(subject) { return true }
            return items[index].certificate.map { $0.isCA && !$0.namesServer } ?? false
        }
        let servers = certificates.filter { !isAuthority($0) }
        // A certificate that breaks the standard is taken for a server's only if it is where a server's is, or beside
        // one.
        let hasServer = servers.contains { items[$0].certificate != nil }
        leaves = servers.filter { hasServer || items[$0].certificate != nil || $0 == certificates.first }

        // After an authority in the first place, as in a file whose root comes first, there are no further chains.
        let hasLeafFirst = certificates.first.map { leaves.contains($0) } ?? false
        let known = Set(leaves)
        var chains: [[Int]] = []
        for index in certificates {
            let begins = hasLeafFirst && known.contains(index) && items[index].certificate?.namesServer == true
            if begins || chains.isEmpty { chains.append([]) }
            chains[chains.count - 1].append(index)
        }
        for chain in chains {
            for (depth, index) in chain.enumerated() { places[index] = (depth, chain.count) }
        }
    }
}

extension SourceItem {
    fileprivate var issuerDER: ArraySlice<UInt8>? {
        switch self {
        case .certificate(let certificate): certificate.issuerDER
        case .unfit(let certificate): certificate.outline.issuerDER
        case .request, .key: nil
        }
    }

    fileprivate var subjectDER: ArraySlice<UInt8>? {
        switch self {
        case .certificate(let certificate): certificate.subjectDER
        case .unfit(let certificate): certificate.outline.subjectDER
        case .request, .key: nil
        }
    }
}

extension Certificate {
    var lacksAlternativeNames: Bool { subjectAlternativeNames?.isEmpty ?? true }

    /// A Boolean value that indicates whether it has the name of a server: a DNS name, a wildcard or an address.
    /// Without alternative names, a common name that looks like a host counts.
    fileprivate var namesServer: Bool {
        if firstHost != nil { return true }
        return (subjectAlternativeNames ?? []).contains { name in
            switch name {
            case .dns, .ipAddress: true
            default: false
            }
        }
    }

    /// The first DNS name that is a host and not a wildcard, or the first address. If there are no alternative names,
    /// as in certificates of `openssl req -x509`, the common name is suggested, although no client accepts it.
    var firstHost: ServerEndpoint? {
        for name in subjectAlternativeNames ?? [] {
            switch name {
            case .dns(let octets):
                if let host = try? ServerName(String(decoding: octets, as: UTF8.self)), isFor(host) {
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
