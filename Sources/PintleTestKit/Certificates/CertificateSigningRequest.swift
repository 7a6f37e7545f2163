/// A request for a certificate (PKCS#10, RFC 2986).
package struct CertificateSigningRequest: Sendable {
    /// CertificationRequest, DER.
    package let der: [UInt8]
    package let key: PrivateKey

    /// The request as `-----BEGIN CERTIFICATE REQUEST-----`.
    package var pem: String { PEM.encode(der, label: "CERTIFICATE REQUEST") }

    /// Makes a request for these names and addresses, signed with `key`.
    package init(
        hosts: [String], key: PrivateKey, subject: CertificateTemplate.DistinguishedName? = nil,
        signatureAlgorithm: SignatureAlgorithm? = nil
    ) throws(MintingError) {
        guard let algorithm = signatureAlgorithm ?? key.defaultSignatureAlgorithm else {
            throw MintingError(
                operation: "minting a request", reason: "the key cannot sign; use an RSA, EC or EdDSA key")
        }
        let name = subject ?? hosts.first.map { .commonName($0) } ?? .empty
        let signedPart = DERWriter.encode { der in
            der.sequence { der in
                der.integer(0)
                name.write(to: &der)
                der.raw(key.spkiDER)
                der.context(0) { der in
                    CertificateSigningRequest.writeExtensionRequest(hosts: hosts, to: &der)
                }
            }
        }
        let signature = try key.sign(signedPart, with: algorithm)
        der = DERWriter.encode { der in
            der.sequence { der in
                der.raw(signedPart)
                der.raw(algorithm.identifierDER)
                der.bitString(signature)
            }
        }
        self.key = key
    }

    /// Writes the extensionRequest attribute (RFC 2985 section 5.4.2).
    private static func writeExtensionRequest(hosts: [String], to der: inout DERWriter) {
        guard !hosts.isEmpty else { return }
        der.sequence { der in
            der.oid([1, 2, 840, 113_549, 1, 9, 14])
            der.set { der in
                der.sequence { der in
                    CertificateExtension.subjectAltName(hosts.map { .host($0) }).write(to: &der)
                }
            }
        }
    }
}
