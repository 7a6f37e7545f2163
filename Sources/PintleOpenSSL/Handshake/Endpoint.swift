internal import Glibc

/// A host and a port that a connection is opened to.
///
/// The host is one thing to everybody: the resolver, the SNI extension and the verifier are given the
/// same string. So spellings that the resolver would read as an address although they are none by
/// RFC 3986 (`127.1`, `0x7f.1`, `2130706433`) are refused rather than looked up.
public struct Endpoint: Hashable, Sendable, CustomStringConvertible {
    /// What the host string is. Only a name goes into SNI (RFC 6066 section 3).
    public enum Kind: Hashable, Sendable {
        case name, ipv4, ipv6
    }

    /// A lower-case DNS name without a final dot (A-labels), or an IPv4 or IPv6 literal without brackets.
    public let host: String
    public let port: UInt16
    public let kind: Kind

    /// - Parameters:
    ///   - host: an ASCII DNS name (one final dot is dropped), an IPv4 literal of four decimal numbers, or
    ///     an IPv6 literal with or without brackets.
    ///   - port: 1 to 65535.
    /// - Throws: ``HandshakeError`` with the code `invalid-host`.
    public init(host: String, port: UInt16) throws(HandshakeError) {
        guard port > 0 else { throw .invalidHost(host, why: "port 0 cannot be connected to") }
        var bytes = Array(host.utf8)
        if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") {
            bytes = Array(bytes.dropFirst().dropLast())
            guard bytes.contains(UInt8(ascii: ":")) else {
                throw .invalidHost(host, why: "only an IPv6 address stands in brackets")
            }
        }
        self.port = port
        if bytes.contains(UInt8(ascii: ":")) {
            let literal = String(decoding: bytes, as: UTF8.self)
            guard IPAddress(literal)?.family == .ipv6 else {
                throw .invalidHost(host, why: "it is not an IPv6 address")
            }
            (self.host, kind) = (literal.lowercased(), .ipv6)
            return
        }
        if let address = IPAddress(host) {
            (self.host, kind) = (host, address.family == .ipv4 ? .ipv4 : .ipv6)
            return
        }
        self.host = try Self.name(bytes, as: host)
        kind = .name
    }

    /// `host:port`, with brackets around an IPv6 literal, as CONNECT and messages want it.
    public var description: String { kind == .ipv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func name(_ bytes: [UInt8], as given: String) throws(HandshakeError) -> String {
        var bytes = bytes
        if bytes.last == UInt8(ascii: ".") { bytes.removeLast() }
        guard (1...253).contains(bytes.count) else {
            throw .invalidHost(given, why: "a host name has 1 to 253 characters")
        }
        let labels = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        for label in labels {
            guard (1...63).contains(label.count) else {
                throw .invalidHost(given, why: "each label of a host name has 1 to 63 characters")
            }
            guard label.allSatisfy(isNameByte) else {
                throw .invalidHost(
                    given, why: "a host name is letters, digits, hyphens and dots; write others as A-labels (xn--...)")
            }
        }
        // The rule of the URL standard ("ends in a number"): the resolver would take it for an address.
        if let last = labels.last, isNumeric(last) {
            throw .invalidHost(given, why: "write an IPv4 address as four decimal numbers")
        }
        return String(decoding: bytes, as: UTF8.self).lowercased()
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default:
            false
        }
    }

    private static func isNumeric(_ label: ArraySlice<UInt8>) -> Bool {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        if label.allSatisfy(digits.contains) { return true }
        let text = String(decoding: label, as: UTF8.self).lowercased()
        return text.hasPrefix("0x") && text.dropFirst(2).allSatisfy(\.isHexDigit)
    }
}
