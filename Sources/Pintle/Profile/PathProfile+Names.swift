extension Certificate {
    /// Returns the findings about the leaf's subject alternative names. DNS names must have the preferred syntax (RFC
    /// 5280 section 4.2.1.6). A wildcard must be the whole left-most label (RFC 9525 section 6.3) and must not be
    /// directly above a public suffix.
    ///
    /// - Parameter note: a text for a finding about a public suffix.
    func alternativeNameFindings(isPublicSuffix: (String) -> Bool, note: String?) -> [PathFailure.Finding] {
        var findings: [PathFailure.Finding] = []
        // One finding of each kind is enough: there may be thousands of names.
        for case .dns(let octets) in subjectAlternativeNames ?? [] where findings.isEmpty {
            guard let name = DNSPattern(octets) else {
                findings.append(
                    .init(.other, depth: 0, text: "not a DNS name: \(GeneralName.dns(octets))"))
                continue
            }
            if name.isWildcard, isPublicSuffix(name.suffix) {
                findings.append(
                    .init(
                        .nameMismatch, depth: 0,
                        text: "a wildcard for everything under \(name.suffix)" + (note.map { ": \($0)" } ?? "")))
            }
        }
        if extensionField(.subjectAltName)?.isCritical == true, !hasEmptySubject {
            findings.append(.init(.other, depth: 0, text: "critical alternative names beside a subject"))
        }
        return findings
    }

    private var hasEmptySubject: Bool { layout.subject.isEmpty }

    /// The DNS names with the preferred syntax.
    var dnsNames: [DNSPattern] {
        subjectAlternativeNames?.compactMap { name in
            guard case .dns(let octets) = name else { return nil }
            return DNSPattern(octets)
        } ?? []
    }

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
        guard !bases.isEmpty else { return false }
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
        guard 1...253 ~= name.count else { return nil }
        for label in name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard 1...63 ~= label.count, label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-"),
                label.allSatisfy(Self.isLetterDigitHyphen)
            else { return nil }
        }
        suffix = String(decoding: name, as: UTF8.self).lowercased()
        // An IP address in a DNS name does not count as a name.
        guard IPAddress(suffix) == nil else { return nil }
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
