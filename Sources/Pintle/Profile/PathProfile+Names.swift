extension Certificate {
    /// Returns the findings about the leaf's subject alternative names. A wildcard must not be directly above a public
    /// suffix. A dNSName that is no DNS name matches nothing, so it is no finding by itself. One with a NUL or another
    /// control character is, because it exists only to deceive programs that read names as C strings.
    ///
    /// - Parameter note: a text for a finding about a public suffix.
    func alternativeNameFindings(isPublicSuffix: (String) -> Bool, note: String?) -> [PathFailure.Finding] {
        var findings: [PathFailure.Finding] = []
        // One finding of each kind is enough: there may be thousands of names. A user may accept the second kind.
        if let octets = dnsOctets.first(where: { $0.contains { !(0x20...0x7E ~= $0) } }) {
            findings.append(.init(.other, depth: 0, text: DNSPattern.refusal(of: octets)))
        }
        if let name = dnsNames.first(where: { $0.isWildcard && isPublicSuffix($0.suffix) }) {
            findings.append(
                .init(
                    .nameMismatch, depth: 0,
                    text: "a wildcard for everything under \(name.suffix)" + (note.map { ": \($0)" } ?? "")))
        }
        if extensionField(.subjectAltName)?.isCritical == true, !hasEmptySubject {
            findings.append(.init(.other, depth: 0, text: "critical alternative names beside a subject"))
        }
        return findings
    }

    private var hasEmptySubject: Bool { layout.subject.isEmpty }

    /// The dNSNames, whether or not they are DNS names.
    private var dnsOctets: [ArraySlice<UInt8>] {
        (subjectAlternativeNames ?? []).compactMap { if case .dns(let octets) = $0 { octets } else { nil } }
    }

    /// The dNSNames that are not DNS names, in the order of the certificate.
    var misspeltNames: some Collection<ArraySlice<UInt8>> { dnsOctets.lazy.filter { DNSPattern($0) == nil } }

    /// The DNS names with the preferred syntax (RFC 5280 section 4.2.1.6).
    var dnsNames: [DNSPattern] { dnsOctets.compactMap { DNSPattern($0) } }

    /// Returns findings where validators treat an authority's excluded names differently: wildcards of the leaf that
    /// stand for an excluded name, and excluded names with a leading dot. A name that violates the syntax of RFC 5280
    /// section 4.2.1.10 is a finding too, because it would exclude nothing.
    func constraintFindings(
        _ constraints: NameConstraints, at depth: Int, names: [DNSPattern]
    ) -> [PathFailure.Finding] {
        let excluded = ExcludedNames(constraints)
        var findings: [PathFailure.Finding] = []
        if let base = excluded.unreadable {
            findings.append(
                .init(
                    .nameConstraintViolation, depth: depth,
                    text: "an excluded DNS name that cannot be read: \(GeneralName.dns(base))"))
        }
        if let name = names.first(where: excluded.mayHold) {
            findings.append(
                .init(
                    .nameConstraintViolation, depth: depth,
                    text: name.isWildcard
                        ? "*.\(name.suffix) stands for names that are excluded" : "\(name.suffix) is excluded"))
        }
        return findings
    }
}

extension NameConstraints {
    /// A Boolean value that indicates whether a subtree of DNS names is permitted or excluded.
    var restrictDNSNames: Bool {
        (permitted + excluded).contains { name in
            if case .dns = name { true } else { false }
        }
    }
}

/// The DNS names that constraints exclude, as sets, because leaf and authority may each hold thousands.
///
/// A leading dot makes a base stand for the sub-domains. Public authorities use it, although the RFC has it only for
/// URIs. Here the base itself is excluded too, which costs nothing.
private struct ExcludedNames {
    private var bases: Set<String> = []
    /// The bases without their left-most label.
    private var parents: Set<String> = []
    /// The bases with a leading dot. OpenSSL excludes only their sub-domains.
    private var dotted: Set<String> = []
    /// A base that no name can be in.
    private(set) var unreadable: ArraySlice<UInt8>?

    init(_ constraints: NameConstraints) {
        for name in constraints.excluded {
            guard case .dns(let octets) = name else { continue }
            let isDotted = name.isDNSWithLeadingDot
            guard !octets.isEmpty else {
                bases.insert("")
                continue
            }
            guard let pattern = DNSPattern(octets.dropFirst(isDotted ? 1 : 0)), !pattern.isWildcard else {
                unreadable = octets
                continue
            }
            let base = pattern.suffix
            bases.insert(base)
            if isDotted { dotted.insert(base) }
            if let dot = base.firstIndex(of: ".") { parents.insert(String(base[base.index(after: dot)...])) }
        }
    }

    /// Returns whether the name is in an excluded subtree, as far as OpenSSL does not see it: the wildcard stands for
    /// such a name, or the name is a base with a leading dot.
    func mayHold(_ name: DNSPattern) -> Bool {
        guard name.isWildcard else { return dotted.contains(name.suffix) }
        // The wildcard stands for one label above the suffix, so it covers exactly the bases with one more label.
        if bases.contains("") || parents.contains(name.suffix) { return true }
        var rest = Substring(name.suffix)
        while true {
            if bases.contains(String(rest)) { return true }
            guard let dot = rest.firstIndex(of: ".") else { return false }
            rest = rest[rest.index(after: dot)...]
        }
    }
}

extension GeneralName {
    /// A Boolean value that indicates whether this is the base of a constraint on the sub-domains of a DNS name.
    var isDNSWithLeadingDot: Bool {
        guard case .dns(let octets) = self else { return false }
        return octets.first == UInt8(ascii: ".")
    }
}

/// A DNS name of a certificate: labels of letters, digits and hyphens, with an optional wildcard as the left-most
/// label.
struct DNSPattern {
    let isWildcard: Bool
    /// The name in lower case, without the wildcard.
    let suffix: String

    init?(_ octets: ArraySlice<UInt8>) {
        var name = octets
        isWildcard = octets.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")])
        if isWildcard { name = name.dropFirst(2) }
        guard name.count <= 253 else { return nil }
        for label in name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard 1...63 ~= label.count, label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-"),
                label.allSatisfy(Self.isLetterDigitHyphen)
            else { return nil }
        }
        suffix = String(decoding: name, as: UTF8.self).lowercased()
        // An IP address in a DNS name does not count as a name.
        guard IPAddress(suffix) == nil else { return nil }
    }

    /// Returns whether the name matches a host in canonical form. A wildcard stands for one label, and never for all
    /// names below a top-level domain.
    func matches(_ host: String) -> Bool {
        guard isWildcard else { return suffix == host }
        guard suffix.contains("."), let dot = host.firstIndex(of: ".") else { return false }
        return host[host.index(after: dot)...] == suffix && host[..<dot].utf8.allSatisfy(Self.isLetterDigitHyphen)
    }

    /// Returns the text of a finding about a dNSName that is not a DNS name. Its length is limited, because the issuer
    /// of the certificate chose the name.
    static func refusal(of octets: ArraySlice<UInt8>) -> String {
        let limit = 253
        let name = "\(GeneralName.dns(octets.prefix(limit)))" + (octets.count > limit ? "…" : "")
        return "not a DNS name: " + (name.isEmpty ? "an empty text" : name)
    }

    private static func isLetterDigitHyphen(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
