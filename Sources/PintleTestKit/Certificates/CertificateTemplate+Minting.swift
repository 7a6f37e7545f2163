internal import PintleCrypto

extension CertificateTemplate {
    /// Mints a certificate for `key`, signed by `authority`.
    package func minted(for key: PrivateKey, by authority: CertificateAuthority) throws(MintingError)
        -> MintedCertificate
    {
        try minted(for: key, by: authority.certificate, signingKey: authority.key)
    }

    /// Mints a certificate for `key`, issued in the name of `issuer` and signed with `signingKey`. For a forgery, pass
    /// another key than the issuer's.
    package func minted(
        for key: PrivateKey, by issuer: MintedCertificate, signingKey: PrivateKey
    ) throws(MintingError) -> MintedCertificate {
        try minted(
            for: key, issuerName: issuer.subject, issuerKeyIdentifier: issuer.subjectKeyIdentifier,
            signingKey: signingKey)
    }

    /// Mints a certificate for `key`, signed with that key.
    package func selfSigned(with key: PrivateKey) throws(MintingError) -> MintedCertificate {
        try minted(for: key, issuerName: subject, issuerKeyIdentifier: nil, signingKey: key)
    }

    private func minted(
        for key: PrivateKey, issuerName: CertificateTemplate.DistinguishedName, issuerKeyIdentifier: [UInt8]?,
        signingKey: PrivateKey
    ) throws(MintingError) -> MintedCertificate {
        guard let algorithm = signatureAlgorithm ?? signingKey.defaultSignatureAlgorithm else {
            throw MintingError(
                operation: "minting a certificate",
                reason: "the issuer's key cannot sign; give the authority an RSA, EC or EdDSA key")
        }
        let spki = subjectPublicKeyInfo ?? key.spkiDER
        let subjectIdentifier = resolve(subjectKeyIdentifier, automatic: keyIdentifier(of: spki))
        var extensions = standardExtensions(
            subjectIdentifier: subjectIdentifier,
            authorityIdentifier: resolve(authorityKeyIdentifier, automatic: issuerKeyIdentifier))
        extensions += extraExtensions
        editExtensions?(&extensions)

        let identifier = algorithm.identifierDER
        var signedPart = DERWriter.encode { der in
            writeSignedPart(
                to: &der, issuerName: issuer ?? issuerName, spki: spki,
                algorithm: innerAlgorithmIdentifier ?? identifier, extensions: extensions)
        }
        if let editSignedPart { signedPart = editSignedPart(signedPart) }
        var signature = try signingKey.sign(signedPart, with: algorithm)
        if let editSignature { signature = editSignature(signature) }

        let der = DERWriter.encode { der in
            der.sequence { der in
                der.raw(signedPart)
                der.raw(outerAlgorithmIdentifier ?? identifier)
                der.bitString(signature)
            }
        }
        return MintedCertificate(
            der: der, key: key, template: self, spkiDER: spki, subjectKeyIdentifier: subjectIdentifier)
    }

    private func resolve(_ choice: KeyIdentifier, automatic: [UInt8]?) -> [UInt8]? {
        switch choice {
        case .automatic: automatic
        case .absent: nil
        case .octets(let octets): octets
        }
    }

    private func standardExtensions(
        subjectIdentifier: [UInt8]?, authorityIdentifier: [UInt8]?
    ) -> [CertificateExtension] {
        var extensions: [CertificateExtension] = []
        if let basicConstraints {
            extensions.append(
                .basicConstraints(
                    ca: basicConstraints.isCA, pathLength: basicConstraints.pathLength,
                    critical: basicConstraints.isCritical))
        }
        if let keyUsage { extensions.append(.keyUsage(keyUsage)) }
        if let extendedKeyUsage {
            extensions.append(.extendedKeyUsage(extendedKeyUsage, critical: isExtendedKeyUsageCritical))
        }
        if let subjectIdentifier { extensions.append(.subjectKeyIdentifier(subjectIdentifier)) }
        if let authorityIdentifier { extensions.append(.authorityKeyIdentifier(authorityIdentifier)) }
        if !subjectAltNames.isEmpty {
            extensions.append(.subjectAltName(subjectAltNames, critical: isSubjectAltNameCritical ?? subject.isEmpty))
        }
        if let nameConstraints { extensions.append(nameConstraints) }
        return extensions
    }

    /// Writes TBSCertificate (RFC 5280 section 4.1).
    private func writeSignedPart(
        to der: inout DERWriter, issuerName: CertificateTemplate.DistinguishedName, spki: [UInt8], algorithm: [UInt8],
        extensions: [CertificateExtension]
    ) {
        der.sequence { der in
            if let version { der.context(0) { $0.integer(version) } }
            der.integer(content: serialNumber)
            der.raw(algorithm)
            issuerName.write(to: &der)
            der.sequence { der in
                notBefore.write(to: &der)
                notAfter.write(to: &der)
            }
            subject.write(to: &der)
            der.raw(spki)
            guard !extensions.isEmpty else { return }
            der.context(3) { der in
                der.sequence { der in
                    for item in extensions { item.write(to: &der) }
                }
            }
        }
    }
}

/// Returns the first 20 octets of the SHA-256 of a SubjectPublicKeyInfo (RFC 7093 section 2).
func keyIdentifier(of spki: [UInt8]) -> [UInt8] {
    Array(SHA256Digest(hashing: spki).bytes.prefix(20))
}
