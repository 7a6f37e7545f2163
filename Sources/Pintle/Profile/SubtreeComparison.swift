/// Compares e-mail addresses, URIs and IP addresses with name constraints (RFC 5280 section 4.2.1.10).
///
/// OpenSSL compares them too, but it reads the host of a URI up to the first colon, excludes no address by an empty
/// base, misses bases of internationalized addresses, and does not check masks. A name that cannot be compared would
/// pass an exclusion. It is a finding here, and so is a subtree that cannot be read.
enum SubtreeComparison {
    /// Returns the findings about all names below each authority of a path, leaf first. One finding for each authority
    /// and kind of name is enough.
    static func findings(_ path: [Certificate]) -> [PathFailure.Finding] {
        var findings: [PathFailure.Finding] = []
        var known: [[HostedName]?] = Array(repeating: nil, count: path.count)
        for (depth, authority) in path.enumerated().dropFirst() {
            guard let constraints = authority.nameConstraints else { continue }
            // Constraints do not apply to self-issued intermediates (section 6.1.3).
            let below = path[..<depth].indices.filter { $0 == 0 || !path[$0].isSelfIssued }
            func add(_ text: String) {
                findings.append(.init(.nameConstraintViolation, depth: depth, text: text))
            }
            if let text = addressFinding(constraints, below.map { path[$0] }) { add(text) }
            for kind in HostedName.Kind.allCases {
                let permitted = Subtrees(constraints.permitted, kind)
                let excluded = Subtrees(constraints.excluded, kind)
                guard !permitted.isEmpty || !excluded.isEmpty else { continue }
                let texts = below.lazy.compactMap { index -> String? in
                    let names = known[index] ?? HostedName.all(in: path[index])
                    known[index] = names
                    return names.lazy.filter { $0.kind == kind }
                        .compactMap { finding($0, permitted, excluded) }.first
                }
                if let text = texts.first { add(text) }
            }
        }
        return findings
    }

    private static func finding(_ name: HostedName, _ permitted: Subtrees, _ excluded: Subtrees) -> String? {
        if let base = excluded.unreadable { return "an excluded name that cannot be read: \(base)" }
        if excluded.holdsAll { return "\(name) is excluded" }
        switch name.form {
        case .unreadable: return "\(name) cannot be compared with the constraints"
        case .readable(let local, let host):
            if excluded.hold(local, host) { return "\(name) is excluded" }
            return permitted.isEmpty || permitted.hold(local, host) ? nil : "\(name) is not permitted"
        }
    }

    /// Returns a finding if a mask has another form than ones before zeros, or if a name is no address.
    private static func addressFinding(_ constraints: NameConstraints, _ below: [Certificate]) -> String? {
        var isConstrained = false
        for case .ipAddress(let octets) in constraints.permitted + constraints.excluded {
            isConstrained = true
            guard isRange(octets) else { return "a range of addresses that cannot be read: \(Hex.encode(octets))" }
        }
        guard isConstrained else { return nil }
        for certificate in below {
            for case .ipAddress(let octets) in certificate.subjectAlternativeNames ?? []
            where octets.count != 4 && octets.count != 16 {
                return "\(GeneralName.ipAddress(octets)) cannot be compared with the constraints"
            }
        }
        return nil
    }

    /// Returns whether the octets are an address and a mask of the same size.
    private static func isRange(_ octets: ArraySlice<UInt8>) -> Bool {
        guard octets.count == 8 || octets.count == 32 else { return false }
        let rest = octets.suffix(octets.count / 2).drop { $0 == 0xFF }
        guard let first = rest.first else { return true }
        return (~first & (~first &+ 1)) == 0 && rest.dropFirst().allSatisfy { $0 == 0 }
    }
}

/// The bases of one kind in a list of subtrees, as sets, because leaf and authority may each hold thousands.
private struct Subtrees {
    private var hosts: Set<String> = []
    /// The bases with a leading dot, without it. They stand for the sub-domains.
    private var domains: Set<String> = []
    /// The local parts of mailboxes, by host.
    private var mailboxes: [String: Set<ArraySlice<UInt8>>] = [:]
    /// A Boolean value that indicates whether an empty base stands for all names.
    private(set) var holdsAll = false
    private(set) var unreadable: GeneralName?

    init(_ names: [GeneralName], _ kind: HostedName.Kind) {
        for name in names {
            let octets: ArraySlice<UInt8>
            switch (kind, name) {
            case (.mail, .email(let text)), (.uri, .uri(let text)): octets = text
            case (.mail, .other(0, let value)) where HostedName.Form(other: value) != nil:
                // Only names have this type. Constraints on them are e-mail addresses (RFC 9598 section 6).
                unreadable = name
                continue
            default: continue
            }
            if octets.isEmpty || octets.elementsEqual(".".utf8) {
                holdsAll = true
            } else if octets.first == UInt8(ascii: "."), let domain = HostedName.host(octets.dropFirst()) {
                domains.insert(domain)
            } else if let host = HostedName.host(octets) {
                hosts.insert(host)
            } else if kind == .mail, case .readable(let local?, let host) = HostedName.Form(mail: octets) {
                mailboxes[host, default: []].insert(local)
            } else {
                unreadable = name
            }
        }
    }

    var isEmpty: Bool {
        hosts.isEmpty && domains.isEmpty && mailboxes.isEmpty && !holdsAll && unreadable == nil
    }

    /// Returns whether a name is in one of the subtrees.
    func hold(_ local: ArraySlice<UInt8>?, _ host: String) -> Bool {
        if holdsAll || hosts.contains(host) { return true }
        if let local, let locals = mailboxes[host], locals.contains(local) { return true }
        var rest = Substring(host)
        while let dot = rest.firstIndex(of: ".") {
            rest = rest[rest.index(after: dot)...]
            if domains.contains(String(rest)) { return true }
        }
        return false
    }
}

/// A name with a host that constraints apply to: an e-mail address or a URI.
private struct HostedName {
    enum Kind: CaseIterable {
        case mail
        case uri
    }

    enum Form {
        /// The local part is octets, because it is compared with case, and without Unicode's equivalences.
        case readable(local: ArraySlice<UInt8>?, host: String)
        case unreadable
    }

    let kind: Kind
    let form: Form
    let description: String

    /// Returns the e-mail addresses and URIs of a certificate, also the addresses in its subject.
    static func all(in certificate: Certificate) -> [HostedName] {
        var names: [HostedName] = (certificate.subjectAlternativeNames ?? []).compactMap { name in
            switch name {
            case .email(let octets): HostedName(kind: .mail, form: Form(mail: octets), description: "\(name)")
            case .uri(let octets): HostedName(kind: .uri, form: Form(uri: octets), description: "\(name)")
            case .other(0, let octets):
                Form(other: octets).map {
                    HostedName(kind: .mail, form: $0, description: "an internationalized e-mail address")
                }
            default: nil
            }
        }
        guard DistinguishedName.emailAddressCount(certificate.layout.subject, in: certificate.der) > 0 else {
            return names
        }
        for attribute in certificate.subject.attributes where attribute.type == OID.emailAddress.description {
            names.append(HostedName(kind: .mail, form: Form(mail: attribute.value), description: "\(attribute)"))
        }
        return names
    }

    /// Returns the DNS name in lower case; `nil` if the octets are none.
    static func host(_ octets: ArraySlice<UInt8>) -> String? {
        DNSPattern(octets).flatMap { $0.isWildcard ? nil : $0.suffix }
    }
}

extension HostedName: CustomStringConvertible {}

extension HostedName.Form {
    /// Parses an address without quotes and comments, whose host is a DNS name.
    init(mail octets: ArraySlice<UInt8>) {
        guard let at = octets.lastIndex(of: UInt8(ascii: "@")), at > octets.startIndex,
            octets[..<at].allSatisfy(Self.isLocal), let host = HostedName.host(octets[(at + 1)...])
        else {
            self = .unreadable
            return
        }
        self = .readable(local: octets[..<at], host: host)
    }

    init(mail text: String?) {
        self = text.map { Self(mail: Array($0.utf8)[...]) } ?? .unreadable
    }

    /// Parses an internationalized e-mail address, an otherName of the type SmtpUTF8Mailbox (RFC 9598); `nil` if the
    /// name has another type. A name whose type is not in DER may be such an address for OpenSSL.
    init?(other octets: ArraySlice<UInt8>) {
        let bytes = Array(octets)
        var reader = DERReader(bytes.indices)
        self = .unreadable
        guard let type = try? reader.next(in: bytes, reading: "type-id") else { return }
        guard type.holds(.smtpUTF8Mailbox, in: bytes) else { return nil }
        guard let value = try? reader.next(DERTag.constructed(0), in: bytes, reading: "value") else { return }
        reader = DERReader(contentsOf: value)
        guard let text = try? reader.next(in: bytes, reading: "value"), text.end == bytes.count else { return }
        self = Self(mail: DirectoryString.decode(bytes[text.contents], tag: text.tag))
    }

    /// Parses a URI whose authority is a DNS name with an optional port, without user information (RFC 3986 section
    /// 3.2).
    init(uri octets: ArraySlice<UInt8>) {
        self = .unreadable
        let scheme = octets.prefix { $0 != UInt8(ascii: ":") }
        let rest = octets.dropFirst(scheme.count)
        // What looks like a scheme may be the path of a relative reference with another host.
        guard let first = scheme.first, Self.isLetter(first), scheme.allSatisfy(Self.isScheme),
            rest.starts(with: "://".utf8)
        else { return }
        let authority = rest.dropFirst(3).prefix { !"/?#".utf8.contains($0) }
        let name = authority.prefix { $0 != UInt8(ascii: ":") }
        let isPort = authority.dropFirst(name.count + 1).allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard isPort, let host = HostedName.host(name) else { return }
        self = .readable(local: nil, host: host)
    }

    /// Returns whether the octet may stand in a dot-atom (RFC 5322 section 3.2.3), also of an internationalized address
    /// (RFC 6532 section 3.2).
    private static func isLocal(_ octet: UInt8) -> Bool {
        isLetterOrDigit(octet) || octet >= 0x80 || "!#$%&'*+-/=?^_`{|}~.".utf8.contains(octet)
    }

    /// Returns whether the octet may stand in a scheme (RFC 3986 section 3.1).
    private static func isScheme(_ octet: UInt8) -> Bool {
        isLetterOrDigit(octet) || "+-.".utf8.contains(octet)
    }

    private static func isLetterOrDigit(_ octet: UInt8) -> Bool {
        isLetter(octet) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= octet
    }

    private static func isLetter(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: false
        }
    }
}
