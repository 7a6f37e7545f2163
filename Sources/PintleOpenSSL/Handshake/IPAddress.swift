internal import Glibc

/// An IPv4 or IPv6 address in network byte order, read strictly (`inet_pton`): no shorthand, no zone.
struct IPAddress: Hashable, Sendable {
    enum Family: Hashable, Sendable {
        case ipv4, ipv6
    }

    let family: Family
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    init?(_ text: String) {
        // A NUL would end the C string early, and another text than ours would be read.
        guard !text.utf8.contains(0) else { return nil }
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 {
            (family, bytes) = (.ipv4, four)
            return
        }
        var sixteen = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        (family, bytes) = (.ipv6, sixteen)
    }

    /// Whether the first `length` bits are those of `other`. False across families.
    func shares(prefix length: Int, with other: IPAddress) -> Bool {
        guard family == other.family, length >= 0, length <= bytes.count * 8 else { return false }
        for (index, (mine, theirs)) in zip(bytes, other.bytes).enumerated() {
            let bits = min(8, max(0, length - index * 8))
            let mask = UInt8(truncatingIfNeeded: 0xFF00 >> bits)
            if (mine ^ theirs) & mask != 0 { return false }
        }
        return true
    }
}
