/// The name of the server that the app wants to reach. RFC 9525 section 3 calls it the reference identifier.
///
/// It is a DNS name in ASCII form (A-labels) or an IP address. The initializers make it canonical: lower case, without
/// the trailing dot of a fully qualified name, addresses in the text form of RFC 5952. Two spellings of one server are
/// therefore equal.
///
/// Names may contain underscores, because some services use them. A certificate's DNS name with an underscore still
/// matches no server.
public struct ServerName: Sendable, Hashable {
    /// The canonical text in ASCII.
    package let canonical: [UInt8]
    /// The address, or `nil` for a DNS name.
    package let ipAddress: IPAddress?

    /// A Boolean value that indicates whether this is an IP address rather than a DNS name.
    public var isIPAddress: Bool { ipAddress != nil }

    /// Parses a host as URLs have it: ASCII in upper or lower case, optionally with one trailing dot. An IPv6 address
    /// may be in brackets.
    public init(_ text: some StringProtocol) throws(ServerNameError) {
        guard text.utf8.count <= 256 else { throw .tooLong(String(text.prefix(64)) + "…") }
        try self.init(utf8: Array(text.utf8))
    }

    /// Parses the UTF-8 of a host.
    package init(utf8 text: [UInt8]) throws(ServerNameError) {
        guard text.count <= 256 else {
            throw .tooLong(String(String(decoding: text, as: UTF8.self).prefix(64)) + "…")
        }
        var bytes = text
        if bytes.first == UInt8(ascii: "["), bytes.last == UInt8(ascii: "]") {
            bytes = Array(bytes.dropFirst().dropLast())
            guard bytes.contains(UInt8(ascii: ":")) else {
                throw .malformedAddress(String(decoding: text, as: UTF8.self))
            }
        }
        if let address = IPAddress(ascii: bytes) {
            self.init(address)
        } else {
            self.init(canonical: try Self.canonicalName(bytes, text: text), ipAddress: nil)
        }
    }

    /// Creates the name of an address.
    package init(_ address: IPAddress) {
        self.init(canonical: Array(address.description.utf8), ipAddress: address)
    }

    /// Creates a name from text that is already canonical.
    package init(canonical: [UInt8]) {
        self.init(canonical: canonical, ipAddress: IPAddress(ascii: canonical))
    }

    private init(canonical: [UInt8], ipAddress: IPAddress?) {
        self.canonical = canonical
        self.ipAddress = ipAddress
    }

    /// The labels of a DNS name from left to right; empty for an address.
    package var labels: [Substring] {
        ipAddress == nil ? description.split(separator: ".") : []
    }

    private static func canonicalName(_ input: [UInt8], text: [UInt8]) throws(ServerNameError) -> [UInt8] {
        var shown: String { String(decoding: text, as: UTF8.self) }
        func error(_ reason: ServerNameError.Reason, _ problem: String, hint: String) -> ServerNameError {
            ServerNameError(reason, in: shown, problem, hint: hint)
        }
        var name = input
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        guard !name.isEmpty else {
            throw error(.empty, "it is empty", hint: "write a host, as it stands in the URL")
        }
        guard !name.contains(where: { $0 >= 0x80 }) else {
            throw error(.notASCII, "it is not in ASCII", hint: "write it as A-labels, the form that begins with xn--")
        }
        guard !name.contains(UInt8(ascii: "*")) else {
            throw error(
                .wildcard, "it has a wildcard",
                hint: "a rule covers sub-domains by includeSubdomains, not by a wildcard")
        }
        if let colon = name.firstIndex(of: UInt8(ascii: ":")) { throw .colon(at: colon, of: name, in: shown) }
        guard name.count <= 253 else { throw .tooLong(shown) }
        var labelStart = 0
        for index in 0...name.count {
            if index < name.count, name[index] != UInt8(ascii: ".") {
                switch name[index] {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    break
                case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    name[index] |= 0x20
                default:
                    throw error(
                        .forbiddenCharacter, "it has a character that host names do not have",
                        hint: "letters, digits, hyphens and dots only: no scheme, no path, no blanks")
                }
                continue
            }
            let label = name[labelStart..<index]
            guard !label.isEmpty else {
                throw error(.emptyLabel, "it has an empty label", hint: "write one dot between labels")
            }
            guard label.count <= 63 else {
                throw error(
                    .labelTooLong, "it has a label that is too long", hint: "a label has at most 63 characters")
            }
            guard label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-") else {
                throw error(
                    .hyphenAtEdge, "it has a hyphen at the edge of a label",
                    hint: "a label neither begins nor ends with a hyphen")
            }
            if index == name.count, endsInNumber(label) { throw .malformedAddress(shown) }
            labelStart = index + 1
        }
        return name
    }

    /// Returns whether the last label is a number. Such a name is an unusual spelling of an address (`127.1`,
    /// `0x7f.1`), which URL parsers read differently (WHATWG URL, "ends in a number").
    private static func endsInNumber(_ label: ArraySlice<UInt8>) -> Bool {
        if label.allSatisfy({ (0x30...0x39).contains($0) }) { return true }
        guard label.starts(with: [0x30, 0x78]) else { return false }
        return label.dropFirst(2).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Returns true if the canonical texts are equal.
    public static func == (left: ServerName, right: ServerName) -> Bool { left.canonical == right.canonical }
    /// Hashes the canonical text.
    public func hash(into hasher: inout Hasher) { hasher.combine(canonical) }
}

extension ServerName: CustomStringConvertible {
    /// The canonical text: `api.example.com`, `192.0.2.1`, `2001:db8::1`.
    public var description: String { String(decoding: canonical, as: UTF8.self) }
}

/// The reason why a text is not a server name, or why a URL names no server that a policy can judge.
public struct ServerNameError: Error, CustomStringConvertible, Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        case empty
        case emptyLabel = "empty-label"
        case tooLong = "too-long"
        case labelTooLong = "label-too-long"
        case notASCII = "not-ascii"
        case wildcard
        case forbiddenCharacter = "forbidden-character"
        case hyphenAtEdge = "hyphen-at-edge"
        case malformedAddress = "malformed-address"
        case url, port
        // Only of a URL.
        case scheme, character
        case userInfo = "user-info"
    }

    package let reason: Reason
    /// The text that was parsed. A text that is too long is cut. A URL is cut to its scheme and server, without
    /// user-info, which may be a password.
    public let text: String
    /// The text and the reason, for people.
    public let description: String
    /// The remedy.
    public let hint: String

    /// A stable code for machines, such as `empty-label`.
    public var code: String { reason.rawValue }

    init(_ reason: Reason, in text: String, description: String, hint: String) {
        (self.reason, self.text, self.description, self.hint) = (reason, text, description, hint)
    }

    fileprivate init(_ reason: Reason, in text: String, _ problem: String, hint: String) {
        self.init(reason, in: text, description: "\"\(text)\" is not a host name: \(problem)", hint: hint)
    }

    fileprivate static func tooLong(_ text: String) -> ServerNameError {
        .init(.tooLong, in: text, "it is too long", hint: "a host has at most 253 characters")
    }

    static func malformedAddress(_ text: String) -> ServerNameError {
        .init(
            .malformedAddress, in: text, "it is an address in a form that programs read differently",
            hint: "write IPv4 as four decimal numbers, IPv6 as RFC 4291 does, without a zone")
    }

    /// Returns the likely mistake in a text with a colon that is not an IPv6 address.
    fileprivate static func colon(at colon: Int, of name: [UInt8], in text: String) -> ServerNameError {
        let rest = name[(colon + 1)...]
        if rest.starts(with: Array("//".utf8)) {
            return .init(
                .url, in: text, "it is a whole URL", hint: "write only the host, without scheme, port and path")
        }
        guard colon > 0, rest.allSatisfy({ (0x30...0x39).contains($0) }) else { return .malformedAddress(text) }
        return .init(
            .port, in: text, "it has a port", hint: "write only the host; the port is given separately")
    }
}
