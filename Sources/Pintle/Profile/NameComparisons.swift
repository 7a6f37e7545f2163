/// An estimate of the work to compare the names on a path with the name constraints above them.
///
/// A validator compares every name of a certificate with every subtree of every authority above it (RFC 5280 section
/// 6.1.3, steps b and c). A chain of one megabyte can therefore cause a hundred million comparisons.
package enum NameComparisons {
    /// The number of bytes that a validator compares in one step.
    private static let bytesPerStep: Int64 = 64
    /// The steps for one name of type otherName. Before OpenSSL compares an internationalized mailbox (RFC 8398), it
    /// decodes the constraint's labels (RFC 3492), which takes a hundred times as long as another comparison.
    private static let stepsPerOtherName: Int64 = 128

    /// Returns the steps for the names on this path, leaf first. A step is one comparison of at most 64 bytes; a longer
    /// comparison counts as several steps. The e-mail addresses in subjects count as names (RFC 5280 section 4.2.1.10).
    ///
    /// The result has 64 bits, because the product can exceed a 32-bit `Int`.
    package static func steps(_ path: [Certificate]) -> Int64 {
        guard path.contains(where: { $0.nameConstraints != nil }) else { return 0 }
        var steps: Int64 = 0
        var (names, bytes): (Int64, Int64) = (0, 0)
        for certificate in path {
            if let constraints = certificate.nameConstraints {
                let bases = Int64(constraints.permitted.count + constraints.excluded.count)
                let baseBytes = size(constraints.permitted) + size(constraints.excluded)
                steps += names * bases + (bytes * bases + baseBytes * names) / bytesPerStep
            }
            names += certificate.comparedNames
            bytes += Int64(certificate.subjectDER.count) + size(certificate.subjectAlternativeNames ?? [])
        }
        return steps
    }

    /// Returns the steps that ``PathProfile`` itself takes to compare names with subtrees.
    package static func exclusionSteps(_ path: [Certificate]) -> Int64 {
        let constraints = path.dropFirst().compactMap(\.nameConstraints)
        guard !constraints.isEmpty, let names = path.first?.dnsNames else { return 0 }
        var (hosted, below) = (Int64(0), Int64(0))
        for certificate in path {
            if let constraints = certificate.nameConstraints, constraints.concernsHosts { hosted += below }
            below += certificate.hostedNameSteps
        }
        let wildcardSteps = names.reduce(Int64(0)) { sum, name in
            guard name.isWildcard else { return sum }
            // Each suffix of the name is looked up, one for each label.
            let labels = name.suffix.utf8.reduce(Int64(1)) { $1 == UInt8(ascii: ".") ? $0 + 1 : $0 }
            return sum + labels * (1 + Int64(name.suffix.utf8.count) / bytesPerStep)
        }
        let dotted = constraints.count { $0.excluded.contains(where: \.isDNSWithLeadingDot) }
        return hosted + wildcardSteps * Int64(constraints.count) + Int64(names.count) * Int64(dotted)
    }

    private static func size(_ names: [GeneralName]) -> Int64 {
        names.reduce(0) { $0 + Int64($1.octets.count) }
    }

    fileprivate static func weight(_ names: [GeneralName]) -> Int64 {
        names.reduce(0) { sum, name in
            if case .other = name { sum + stepsPerOtherName } else { sum + 1 }
        }
    }
}

extension Certificate {
    /// The number of names that constraints apply to: the subject, its e-mail addresses and the alternative names.
    fileprivate var comparedNames: Int64 {
        Int64(1 + DistinguishedName.emailAddressCount(layout.subject, in: der))
            + NameComparisons.weight(subjectAlternativeNames ?? [])
    }
}

extension NameConstraints {
    /// A Boolean value that indicates whether a subtree is of e-mail addresses or URIs, or may be of internationalized
    /// addresses.
    fileprivate var concernsHosts: Bool {
        (permitted + excluded).contains { name in
            switch name {
            case .email, .uri, .other(0, _): true
            default: false
            }
        }
    }
}

extension Certificate {
    /// The steps to parse the e-mail addresses, URIs and names of other types, and to look up each suffix of their
    /// hosts.
    fileprivate var hostedNameSteps: Int64 {
        let parsing: Int64 = 8
        var steps: Int64 = 0
        for name in subjectAlternativeNames ?? [] {
            switch name {
            case .email(let octets), .uri(let octets), .other(0, let octets): steps += Self.suffixSteps(octets)
            default: break
            }
        }
        if DistinguishedName.emailAddressCount(layout.subject, in: der) > 0 { steps += Self.suffixSteps(subjectDER) }
        return steps * parsing
    }

    private static func suffixSteps(_ octets: ArraySlice<UInt8>) -> Int64 {
        octets.reduce(Int64(1)) { $1 == UInt8(ascii: ".") ? $0 + 1 : $0 } * (1 + Int64(octets.count) / 64)
    }
}

extension GeneralName {
    /// The contents of the name without its tag.
    fileprivate var octets: ArraySlice<UInt8> {
        switch self {
        case .dns(let octets), .ipAddress(let octets), .email(let octets), .uri(let octets),
            .directoryName(let octets), .other(_, let octets):
            octets
        }
    }
}
