/// An IPv4 or IPv6 address.
package struct IPAddress: Sendable, Hashable {
    /// The four or sixteen octets in network byte order.
    package let octets: [UInt8]

    package var isIPv6: Bool { octets.count == 16 }

    /// A Boolean value that indicates whether this IPv6 address stands for an IPv4 address (RFC 4291 section 2.5.5.2).
    /// Systems connect to that one. The two still count as different hosts, as they do in certificates.
    package var isMappedIPv4: Bool { isIPv6 && octets.starts(with: Self.mappedPrefix) }

    /// The IPv4 address in an IPv6 address that systems do not reach by IPv4, and `nil` in others. Such addresses are
    /// IPv4-compatible (RFC 4291 section 2.5.5.1), IPv4-translated (RFC 2765) or a translator's (RFC 6052 section 2.1).
    package var embeddedIPv4: IPAddress? {
        guard isIPv6 else { return nil }
        let tail = IPAddress(octets: octets[12...])
        if octets.starts(with: Self.translatedPrefix) || octets.starts(with: Self.translatorPrefix) { return tail }
        // Addresses such as ::1 and ::2 contain no address of a host.
        return octets[..<12].allSatisfy { $0 == 0 } && octets[12] != 0 ? tail : nil
    }

    private static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    private static let translatedPrefix = [UInt8](repeating: 0, count: 8) + [0xFF, 0xFF, 0, 0]
    private static let translatorPrefix: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]

    /// A Boolean value that indicates whether the address belongs to a group of hosts: multicast (RFC 5771, RFC 4291
    /// section 2.7) or limited broadcast (RFC 919). TCP connects to no such address (RFC 9293 section 3.9.2.3).
    package var isForGroup: Bool {
        isIPv6 ? octets[0] == 0xFF : 224...239 ~= octets[0] || octets.allSatisfy { $0 == 0xFF }
    }

    /// A Boolean value that indicates whether this IPv6 address counts only on one link, so that connecting to it needs
    /// a zone (RFC 4007 section 11).
    package var needsZone: Bool { isIPv6 && octets[0] == 0xFE && octets[1] & 0xC0 == 0x80 }

    /// A Boolean value that indicates whether no host has the address: `0.0.0.0` (RFC 1122 section 3.2.1.3) or `::`
    /// (RFC 4291 section 2.5.2). Systems connect to their own loopback address instead.
    package var isUnspecified: Bool { octets.allSatisfy { $0 == 0 } }

    /// Creates an address, or `nil` unless there are four or sixteen octets.
    package init?(octets: some Collection<UInt8>) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = Array(octets)
    }

    /// Parses dotted decimal with exactly four numbers and no leading zeros (the strict form of RFC 6943 section
    /// 3.1.1), or IPv6 text (RFC 4291 section 2.2) without a zone.
    package init?(_ text: some StringProtocol) {
        self.init(ascii: Array(text.utf8.prefix(46)))
    }

    /// Parses the bytes of an address in text form.
    init?(ascii bytes: [UInt8]) {
        if let octets = Self.ipv4(bytes[...]) ?? Self.ipv6(bytes) {
            self.octets = octets
        } else {
            return nil
        }
    }

    private static func ipv4(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        // Return early for the common case: most texts are names, and few of those begin with a digit.
        guard 7...15 ~= text.count, let first = text.first, 0x30...0x39 ~= first else { return nil }
        var octets: [UInt8] = []
        for part in text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard octets.count < 4, 1...3 ~= part.count, part.count == 1 || part.first != UInt8(ascii: "0") else {
                return nil
            }
            var value = 0
            for digit in part {
                guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
                value = value * 10 + Int(digit - UInt8(ascii: "0"))
            }
            guard let octet = UInt8(exactly: value) else { return nil }
            octets.append(octet)
        }
        return octets.count == 4 ? octets : nil
    }

    private static func ipv6(_ text: [UInt8]) -> [UInt8]? {
        guard 2...45 ~= text.count, text.contains(UInt8(ascii: ":")) else { return nil }
        var head: [UInt8] = []
        var tail: [UInt8]?
        var index = 0
        if text.starts(with: [0x3A, 0x3A]) {
            tail = []
            index = 2
        }
        while index < text.count {
            let end = text[index...].firstIndex(of: 0x3A) ?? text.count
            let group = text[index..<end]
            let octets: [UInt8]
            if end == text.count, let embedded = ipv4(group) {
                octets = embedded
            } else {
                guard 1...4 ~= group.count, let value = hexadecimal(group) else { return nil }
                octets = [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
            }
            if tail == nil { head += octets } else { tail? += octets }
            guard head.count + (tail?.count ?? 0) <= 16 else { return nil }
            guard end < text.count else { break }
            index = end + 1
            if index < text.count, text[index] == 0x3A {
                guard tail == nil else { return nil }
                tail = []
                index += 1
            } else if index == text.count {
                return nil
            }
        }
        guard let tail else { return head.count == 16 ? head : nil }
        let gap = 16 - head.count - tail.count
        guard gap >= 2 else { return nil }
        return head + [UInt8](repeating: 0, count: gap) + tail
    }

    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> Int? {
        var value = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | Int(digit - 0x30)
            case 0x41...0x46: value = value << 4 | Int(digit - 0x41 + 10)
            case 0x61...0x66: value = value << 4 | Int(digit - 0x61 + 10)
            default: return nil
            }
        }
        return value
    }
}

extension IPAddress: CustomStringConvertible {
    /// The address in dotted decimal, or in the text form of RFC 5952.
    package var description: String {
        guard isIPv6 else { return octets.map(String.init).joined(separator: ".") }
        if isMappedIPv4 { return "::ffff:" + octets[12...].map(String.init).joined(separator: ".") }
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(octets[$0]) << 8 | UInt16(octets[$0 + 1]) }
        let gap = Self.longestRunOfZeros(groups)
        let head = groups[..<gap.lowerBound].map { String($0, radix: 16) }.joined(separator: ":")
        guard !gap.isEmpty else { return head }
        let tail = groups[gap.upperBound...].map { String($0, radix: 16) }.joined(separator: ":")
        return head + "::" + tail
    }

    /// Returns the longest run of at least two zero groups, and the first one of equal length. Returns an empty range
    /// at the end if there is none.
    private static func longestRunOfZeros(_ groups: [UInt16]) -> Range<Int> {
        var best = groups.count..<groups.count
        var start = 0
        while start < groups.count {
            var end = start
            while end < groups.count, groups[end] == 0 { end += 1 }
            if end - start >= 2, end - start > best.count { best = start..<end }
            start = max(end, start + 1)
        }
        return best
    }
}

/// An IP address that is only another spelling of an address: the system silently connects to that other address.
///
/// A rule for that other address does not cover the alias, so a request to the alias would bypass the rule. Policies,
/// sessions, handshakes and delegates therefore refuse aliases.
package struct AddressAlias: Hashable, Sendable {
    /// The host in its canonical form and the problem with it.
    package let message: String
    /// The remedy.
    package let hint: String

    /// Returns `nil` unless the host is an alias.
    package init?(_ host: ServerName) {
        guard let address = host.ipAddress,
            let target = address.isMappedIPv4 ? IPAddress(octets: address.octets[12...]) : address
        else { return nil }
        if target.isUnspecified {
            message = "\(host) is the unspecified address, which no host has"
            hint = "write 127.0.0.1 or [::1] for this machine"
        } else if target != address {
            message = "\(host) is an IPv4 address in the form of IPv6"
            hint = "write \(target)"
        } else {
            return nil
        }
    }
}
