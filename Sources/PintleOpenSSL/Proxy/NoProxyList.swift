internal import Pintle

/// The hosts that bypass the proxy, by curl's rules.
///
/// Entries are separated by commas or blanks. A single `*` covers every host. A name, with or without a leading dot or
/// `*.`, covers itself and every name below it. An address covers itself in any notation; with `/n` it covers its
/// network. If an entry has a port, the port must match too.
///
/// An entry that cannot be parsed covers no host, as in curl.
struct NoProxyList: Sendable {
    private enum Pattern {
        case everything
        case name(String)
        case network(IPAddress, prefix: Int)
    }

    private struct Entry {
        let pattern: Pattern
        let port: UInt16?
    }

    private let entries: [Entry]
    /// The entries that cannot be parsed, escaped.
    let unreadable: [String]

    /// Creates a list that covers no host.
    init() {
        (entries, unreadable) = ([], [])
    }

    init(_ text: String) {
        var entries: [Entry] = []
        var unreadable: [String] = []
        for part in text.utf8.split(whereSeparator: { ", \t\r\n".utf8.contains($0) }) {
            if let entry = Self.entry(String(decoding: part, as: UTF8.self)) {
                entries.append(entry)
            } else {
                unreadable.append(printable(part))
            }
        }
        (self.entries, self.unreadable) = (entries, unreadable)
    }

    func covers(_ endpoint: ServerEndpoint) -> Bool {
        let (name, address) = (endpoint.host.description, endpoint.host.ipAddress)
        return entries.contains { entry in
            guard entry.port == nil || entry.port == endpoint.port else { return false }
            switch entry.pattern {
            case .everything: return true
            case .name(let parent): return name == parent || name.hasSuffix(".\(parent)")
            case .network(let network, let prefix): return address?.shares(prefix: prefix, with: network) ?? false
            }
        }
    }

    private static func entry(_ text: String) -> Entry? {
        if text == "*" { return Entry(pattern: .everything, port: nil) }
        if let slash = text.lastIndex(of: "/") {
            guard let network = IPAddress(String(text[..<slash])),
                let prefix = Int(text[text.index(after: slash)...]), (0...network.octets.count * 8).contains(prefix)
            else { return nil }
            return Entry(pattern: .network(network, prefix: prefix), port: nil)
        }
        let parent = ["*.", "."].first(where: text.hasPrefix)
        // Port 0 cannot be written in an entry, so it stands for "no port".
        guard let endpoint = ServerEndpoint(text.dropFirst(parent?.count ?? 0), defaultPort: 0) else { return nil }
        let port = endpoint.port == 0 ? nil : endpoint.port
        if let address = endpoint.host.ipAddress {
            return Entry(pattern: .network(address, prefix: address.octets.count * 8), port: port)
        }
        return Entry(pattern: .name(endpoint.host.description), port: port)
    }
}

extension IPAddress {
    /// Returns whether the first `length` bits are those of `other`. Returns `false` for addresses of different
    /// families.
    fileprivate func shares(prefix length: Int, with other: IPAddress) -> Bool {
        guard isIPv6 == other.isIPv6, length >= 0, length <= octets.count * 8 else { return false }
        for (index, (mine, theirs)) in zip(octets, other.octets).enumerated() {
            let bits = min(8, max(0, length - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            if (mine ^ theirs) & mask != 0 { return false }
        }
        return true
    }
}
