extension Certificate {
    /// Returns the findings about the leaf's subject alternative names. DNS names must have the preferred syntax (RFC
    /// 5280 section 4.2.1.6). A wildcard must be the whole left-most label (RFC 9525 section 6.3) and must not be
    /// directly above a public suffix.
    func alternativeNameFindings(isPublicSuffix: (String) -> Bool) -> [PathFailure.Finding] {
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
                    .init(.nameMismatch, depth: 0, text: "a wildcard for everything under \(name.suffix)"))
            }
        }
        if extensionField(.subjectAltName)?.isCritical == true, !hasEmptySubject {
            findings.append(.init(.other, depth: 0, text: "critical alternative names beside a subject"))
        }
        return findings
    }

    private var hasEmptySubject: Bool { layout.subject.isEmpty }

    /// The DNS names with a wildcard.
    var wildcards: [DNSPattern] {
        subjectAlternativeNames?.compactMap { name in
            guard case .dns(let octets) = name, let pattern = DNSPattern(octets), pattern.isWildcard else { return nil }
            return pattern
        } ?? []
    }

    /// Returns findings where validators treat an authority's name constraints differently. These are constraints that
    /// violate the syntax of RFC 5280 section 4.2.1.10, and wildcards of the leaf that stand for an excluded name.
    func constraintFindings(
        _ constraints: NameConstraints, at depth: Int, wildcards: [DNSPattern]
    ) -> [PathFailure.Finding] {
        var findings: [PathFailure.Finding] = []
        for case .dns(let base) in constraints.permitted + constraints.excluded where base.first == UInt8(ascii: ".") {
            findings.append(
                .init(
                    .nameConstraintViolation, depth: depth,
                    text: "a constraint on DNS names with a leading dot: \(GeneralName.dns(base))"))
            break
        }
        let excluded = ExcludedNames(constraints)
        if let pattern = wildcards.first(where: excluded.mayHold) {
            findings.append(
                .init(
                    .nameConstraintViolation, depth: depth,
                    text: "*.\(pattern.suffix) stands for names that are excluded"))
        }
        return findings
    }
}

/// The DNS names that constraints exclude, as sets, because leaf and authority may each hold thousands.
private struct ExcludedNames {
    private var bases: Set<String> = []
    /// The bases without their left-most label.
    private var parents: Set<String> = []

    init(_ constraints: NameConstraints) {
        for case .dns(let octets) in constraints.excluded {
            let base = String(decoding: octets, as: UTF8.self).lowercased()
            bases.insert(base)
            if let dot = base.firstIndex(of: ".") { parents.insert(String(base[base.index(after: dot)...])) }
        }
    }

    /// Returns whether the wildcard stands for a name in an excluded subtree.
    func mayHold(_ pattern: DNSPattern) -> Bool {
        guard !bases.isEmpty else { return false }
        // The wildcard stands for one label above the suffix, so it covers exactly the bases with one more label.
        if bases.contains("") || parents.contains(pattern.suffix) { return true }
        var rest = Substring(pattern.suffix)
        while true {
            if bases.contains(String(rest)) { return true }
            guard let dot = rest.firstIndex(of: ".") else { return false }
            rest = rest[rest.index(after: dot)...]
        }
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
