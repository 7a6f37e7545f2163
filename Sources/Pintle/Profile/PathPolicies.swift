/// The certificate policies of a path, before a library evaluates them (RFC 5280 section 6.1).
///
/// Every policy is acceptable to Pintle. So policies can make a path invalid only if a certificate requires one, maps
/// or inhibits some, or marks its own as critical. Most public paths have no such certificate.
package struct PathPolicies {
    /// A Boolean value that indicates whether the anchor's extensions count like an intermediate's.
    ///
    /// RFC 5280 leaves out an anchor's extensions; RFC 5937 describes how to obey them. If one is critical they are
    /// obeyed, as an anchor's name constraints always are.
    package let includesAnchor: Bool
    private let certificates: ArraySlice<Certificate>

    /// - Parameter path: the certificates of the path, leaf first, anchor last.
    package init(_ path: [Certificate]) {
        // A leaf that is its own anchor has no authority that could require a policy.
        includesAnchor = path.dropFirst().suffix(1).contains { anchor in
            anchor.extensions.contains { $0.isPolicy && $0.isCritical }
        }
        certificates = includesAnchor ? path[...] : path.dropLast()
    }

    /// A Boolean value that indicates whether the policies can make the path invalid.
    package var areRestricted: Bool {
        certificates.contains { certificate in
            certificate.extensions.contains {
                $0.isPolicy && ($0.isCritical || $0.identifier != .certificatePolicies)
            }
        }
    }

    /// An estimate of the work, in the unit of ``NameComparisons``.
    ///
    /// OpenSSL sorts a certificate's policies again for each of them, and 20,000 take nine seconds. Each policy and
    /// each mapping is compared with all of the level above, so the work grows with the square of the size.
    package var steps: Int64 {
        certificates.reduce(0) { sum, certificate in
            let size = certificate.extensions.reduce(Int64(0)) { $1.isPolicy ? $0 + Int64($1.value.count) : $0 }
            return sum + size * size / 8
        }
    }
}

extension CertificateExtension {
    fileprivate var isPolicy: Bool { Self.policies.contains(identifier) }

    private static let policies: [OID] = [.certificatePolicies, .policyMappings, .policyConstraints, .inhibitAnyPolicy]
}

extension Certificate {
    /// Returns a finding if a critical extension is not processed (RFC 5280 section 4.2).
    ///
    /// OpenSSL counts more extensions as processed and does not obey all of them: Netscape's certificate type,
    /// revocation lists, addresses and numbers of networks (RFC 3779). Its list may also grow with a version.
    func criticalFindings(at depth: Int) -> [PathFailure.Finding] {
        let found = extensions.first { $0.isCritical && !Self.processed.contains($0.identifier) }
        if let found {
            return [
                .init(
                    .unhandledCriticalExtension, depth: depth,
                    text: "the extension \(found.identifier) is critical and is not processed")
            ]
        }
        guard let policies = extensionField(.certificatePolicies), policies.isCritical, !hasKnownQualifiers(policies)
        else { return [] }
        return [
            .init(
                .unhandledCriticalExtension, depth: depth,
                text: "critical certificate policies with a qualifier of an unknown type")
        ]
    }

    private static let processed: [OID] = [
        .keyUsage, .subjectAltName, .basicConstraints, .nameConstraints, .certificatePolicies, .policyMappings,
        .policyConstraints, .extendedKeyUsage, .inhibitAnyPolicy,
    ]

    /// Returns whether each qualifier is a certification practice statement or a user notice. ``ExtensionSyntax`` has
    /// the syntax; policies that violate it are another finding.
    private func hasKnownQualifiers(_ policies: CertificateExtension) -> Bool {
        do {
            var outer = DERReader(policies.value)
            var list = DERReader(
                contentsOf: try outer.next(DERTag.sequence, in: der, reading: "certificatePolicies"))
            while !list.isAtEnd {
                var policy = DERReader(
                    contentsOf: try list.next(DERTag.sequence, in: der, reading: "policyInformation"))
                _ = try policy.next(in: der, reading: "policyIdentifier")
                guard !policy.isAtEnd else { continue }
                var qualifiers = DERReader(
                    contentsOf: try policy.next(DERTag.sequence, in: der, reading: "policyQualifiers"))
                while !qualifiers.isAtEnd {
                    var qualifier = DERReader(
                        contentsOf: try qualifiers.next(DERTag.sequence, in: der, reading: "policyQualifierInfo"))
                    let type = try qualifier.next(in: der, reading: "policyQualifierId")
                    guard
                        type.holds(.certificationPracticeStatement, in: der) || type.holds(.userNotice, in: der)
                    else { return false }
                }
            }
            return true
        } catch {
            return true
        }
    }
}
