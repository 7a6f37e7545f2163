internal import Pintle

extension ServerEndpoint {
    /// - Throws: ``HandshakeError`` with the code `invalid-host`.
    package init(host: String, port: UInt16) throws(HandshakeError) {
        guard port > 0 else { throw .invalidHost(host, why: "port 0 cannot be connected to") }
        do {
            self.init(host: try ServerName(host), port: port)
        } catch {
            throw .invalidHost(host, why: error.hint)
        }
    }

    /// The host, as the same string for the resolver, SNI and the verdict.
    var name: String { host.description }

    /// A Boolean value that indicates whether the host is an IP address, which SNI cannot carry (RFC 6066 section 3).
    var isAddress: Bool { host.ipAddress != nil }
}

extension IPAddress {
    /// Returns whether the first `length` bits are those of `other`. Returns `false` for addresses of different
    /// families.
    func shares(prefix length: Int, with other: IPAddress) -> Bool {
        guard isIPv6 == other.isIPv6, length >= 0, length <= octets.count * 8 else { return false }
        for (index, (mine, theirs)) in zip(octets, other.octets).enumerated() {
            let bits = min(8, max(0, length - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            if (mine ^ theirs) & mask != 0 { return false }
        }
        return true
    }
}
