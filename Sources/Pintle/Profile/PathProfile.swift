/// Additional requirements on a validated path that platforms do not check. They come from the profiles of RFC 5280 and
/// the CA/Browser Forum's baseline requirements, limited to those that keep attackers out without refusing legitimate
/// certificates.
///
/// The findings depend only on the path. The profile does not repeat what every validator checks (signatures, dates,
/// the host's name).
package struct PathProfile: Sendable {
    /// A closure that returns whether a name is a public suffix, under which anyone can register names (`com`,
    /// `co.uk`). The name is lower-case ASCII without a trailing dot.
    package var isPublicSuffix: @Sendable (String) -> Bool

    /// A text for each finding about a public suffix: why the answer may be wrong.
    private let suffixNote: String?

    package init(isPublicSuffix: @escaping @Sendable (String) -> Bool, suffixNote: String? = nil) {
        (self.isPublicSuffix, self.suffixNote) = (isPublicSuffix, suffixNote)
    }

    /// Returns the findings about a path, leaf first, anchor last.
    ///
    /// - Parameters:
    ///   - path: the certificates of the path.
    ///   - leafIsAnchor: whether the leaf itself is the configured anchor. Such certificates are usually self-made with
    ///     the CA bit set, so their key usage and purposes are not checked.
    ///   - anchorIsOfRule: whether a rule brought the anchor. Private authorities write critical extended key usages
    ///     and policy constraints that are not critical, and every other validator accepts them.
    ///   - comparesConstraints: whether to look up the leaf's names among the excluded names. The caller passes
    ///     `false` if the path has no anchor, or if ``NameComparisons`` counts too many steps.
    package func findings(
        _ path: [Certificate], leafIsAnchor: Bool = false, anchorIsOfRule: Bool = false,
        comparesConstraints: Bool = true
    ) -> [PathFailure.Finding] {
        guard let leaf = path.first else { return [] }
        var findings: [PathFailure.Finding] = []
        for (depth, certificate) in path.enumerated() {
            findings += certificate.keyFindings(at: depth)
        }
        // The value of an anchor's key is the matter of its owner, who chose it.
        for depth in 0..<max(1, path.count - 1) {
            if let flaw = path[depth].keyFlaw { findings.append(.init(.weakKey, depth: depth, text: flaw)) }
        }
        // Do not check the fields of anchors, because existing roots break the profile: nine public roots have serial
        // number 0.
        for (depth, certificate) in (leafIsAnchor ? path[...] : path.dropLast()).enumerated() {
            findings += certificate.fieldFindings(
                at: depth, allowingSerialZero: leafIsAnchor, isPrivate: anchorIsOfRule)
        }
        if !leafIsAnchor {
            for (depth, certificate) in path.dropLast().enumerated() {
                findings += certificate.foreignPurpose(at: depth)
            }
            findings += leaf.purposeFindings(isPrivate: anchorIsOfRule)
        }
        findings += leaf.alternativeNameFindings(isPublicSuffix: isPublicSuffix, note: suffixNote)
        let constrained = path.enumerated().dropFirst().compactMap { depth, authority in
            authority.nameConstraints.map { (depth, authority, $0) }
        }
        lazy var names = comparesConstraints ? leaf.dnsNames : []
        for (depth, authority, constraints) in constrained {
            findings += authority.constraintFindings(constraints, at: depth, names: names)
        }
        guard comparesConstraints else { return findings }
        findings += SubtreeComparison.findings(path)
        if let (depth, _, _) = constrained.first(where: { $0.2.restrictDNSNames }), let name = leaf.misspeltNames.first
        {
            findings.append(
                .init(
                    .nameConstraintViolation, depth: depth,
                    text: "constraints on DNS names cannot be applied to the leaf: \(DNSPattern.refusal(of: name))"))
        }
        return findings
    }
}

extension Certificate {
    fileprivate func keyFindings(at depth: Int) -> [PathFailure.Finding] {
        publicKey.isAcceptedInPaths ? [] : [.init(.weakKey, depth: depth, text: "a key of the kind \(publicKey)")]
    }

    /// Returns the findings about the fields of leaf and intermediates: RFC 5280 sections 4.1.2.2, 4.2.1.11 and those
    /// of ``ExtensionSyntax``.
    fileprivate func fieldFindings(
        at depth: Int, allowingSerialZero: Bool, isPrivate: Bool
    ) -> [PathFailure.Finding] {
        var findings: [PathFailure.Finding] = []
        let isNegative = serialNumber.prefix(1).contains { $0 >= 0x80 }
        let isZero = serialNumber.elementsEqual([0])
        if isNegative || isZero && !allowingSerialZero || serialNumber.count > 20 {
            findings.append(
                .init(.other, depth: depth, text: "a serial number that is not positive or has over 20 octets"))
        }
        findings += criticalFindings(at: depth)
        if !isPrivate, extensionField(.policyConstraints)?.isCritical == false {
            findings.append(.init(.other, depth: depth, text: "policy constraints that are not critical"))
        }
        return findings + syntaxFindings(at: depth)
    }

    /// Returns a finding for each extension of ``ExtensionSyntax`` that cannot be read.
    package func syntaxFindings(at depth: Int) -> [PathFailure.Finding] {
        ExtensionSyntax.allCases.compactMap { syntax in
            guard let field = extensionField(syntax.identifier) else { return nil }
            do {
                try syntax.check(field, in: der)
                return nil
            } catch {
                return .init(.malformedCertificate, depth: depth, text: "\(syntax.name) that cannot be read")
            }
        }
    }

    /// Returns a finding if the certificate has an extended key usage without serverAuth, such as one for code signing
    /// (RFC 5280 section 4.2.1.12). OpenSSL also accepts Server Gated Cryptography, the purposes of Microsoft and
    /// Netscape from the nineties, and checks no purpose of an anchor.
    func foreignPurpose(at depth: Int) -> [PathFailure.Finding] {
        guard let extendedKeyUsage, !extendedKeyUsage.allowsServerAuthentication else { return [] }
        return [.init(.unsuitablePurpose, depth: depth, text: "an extended key usage without serverAuth")]
    }

    /// Returns the findings if the leaf is not purely a server's certificate.
    fileprivate func purposeFindings(isPrivate: Bool) -> [PathFailure.Finding] {
        var findings: [PathFailure.Finding] = []
        if isCA {
            findings.append(.init(.unsuitablePurpose, depth: 0, text: "the server's certificate is an authority's"))
        }
        if let extendedKeyUsage {
            if extendedKeyUsage.allowsAny {
                findings.append(.init(.unsuitablePurpose, depth: 0, text: "an extended key usage for any purpose"))
            }
            if extendedKeyUsage.isCritical, !isPrivate {
                findings.append(.init(.unsuitablePurpose, depth: 0, text: "an extended key usage that is critical"))
            }
        }
        if nameConstraints != nil {
            findings.append(
                .init(.nameConstraintViolation, depth: 0, text: "name constraints in a server's certificate"))
        }
        return findings
    }

    func extensionField(_ identifier: OID) -> CertificateExtension? {
        extensions.first { $0.identifier == identifier }
    }
}
