package import Pintle
internal import PintleConsole

/// The fields of a certificate as text.
package struct CertificateFacts {
    let certificate: Certificate

    package init(_ certificate: Certificate) {
        self.certificate = certificate
    }

    var serialNumber: String { Hex.encode(certificate.serialNumber) }

    var names: [String]? { certificate.subjectAlternativeNames?.map(\.description) }

    /// In the words of RFC 5280 section 4.2.1.3.
    var keyUsage: [String]? {
        guard let usage = certificate.keyUsage else { return nil }
        let bits: [(KeyUsage, String)] = [
            (.digitalSignature, "digitalSignature"), (.nonRepudiation, "nonRepudiation"),
            (.keyEncipherment, "keyEncipherment"), (.dataEncipherment, "dataEncipherment"),
            (.keyAgreement, "keyAgreement"), (.keyCertSign, "keyCertSign"), (.cRLSign, "cRLSign"),
        ]
        return bits.filter { usage.contains($0.0) }.map(\.1)
    }

    /// In the words of RFC 5280 section 4.2.1.12, or dotted.
    package var purposes: [String]? {
        certificate.extendedKeyUsage?.purposes.map { Self.purposes[$0.description] ?? $0.description }
    }

    var permittedNames: [String]? { certificate.nameConstraints?.permitted.map(\.description) }
    var excludedNames: [String]? { certificate.nameConstraints?.excluded.map(\.description) }

    private static let purposes = [
        "1.3.6.1.5.5.7.3.1": "serverAuth", "1.3.6.1.5.5.7.3.2": "clientAuth", "1.3.6.1.5.5.7.3.3": "codeSigning",
        "1.3.6.1.5.5.7.3.4": "emailProtection", "1.3.6.1.5.5.7.3.8": "timeStamping",
        "1.3.6.1.5.5.7.3.9": "OCSPSigning", "2.5.29.37.0": "anyExtendedKeyUsage",
    ]
}

extension PinEntry {
    /// The facts that `pin` and `inspect` list.
    static let facts: [Fact<PinEntry>] = [
        names, key, certificate, server,
        [
            Fact("problem", "The reason why the pin would never match, or the certificate is unfit") {
                $0.problem ?? $0.item.defect
            }
        ],
    ].flatMap(\.self)

    static let names: [Fact<PinEntry>] = [
        Fact("position", "The place: `leaf`, `1`, `2`, ..., `root`, `extra`, `key` or `csr`") { $0.position },
        Fact("subject", "Names, as RFC 4514 writes them") { $0.subject?.description }
            .shown(as: "subject", isWrapped: true) { entry in
                entry.subject.map { [$0.isEmpty ? "(none)" : "\(claim: $0)"] } ?? []
            },
        Fact("issuer") { $0.issuer?.description }
            .shown(as: "issuer", isWrapped: true) { entry in entry.issuer.map { ["\(claim: $0)"] } ?? [] },
    ]

    static let key: [Fact<PinEntry>] = [
        Fact("keyType", "The kind and size of the key") { $0.item.publicKey.type }
            .shown(as: "key", isWrapped: true) { entry in
                guard case .key(_, let isPrivate) = entry.item else { return ["\(entry.item.publicKey)"] }
                return ["\(entry.item.publicKey), \(isPrivate ? "private" : "public")"]
            },
        Fact("keyBits") { $0.item.publicKey.bits },
        Fact("spkiPin", shown: "pin", "The pin of the key: `sha256/` and base64") {
            $0.item.publicKeyPin.description
        },
    ]

    static let certificate: [Fact<PinEntry>] = [
        Fact("certificateSHA256", shown: "cert", "The fingerprint of the certificate in hex") {
            $0.fingerprint?.description
        },
        Fact("notBefore", "The first and the last instant of its validity") { $0.item.certificate?.validity.notBefore },
        Fact("notAfter") { $0.item.certificate?.validity.notAfter },
        Fact("isCA", "True for the certificate of an authority") { $0.item.certificate?.isCA },
    ]

    private static let server: [Fact<PinEntry>] = [
        Fact("sent", "Whether the server sent it, and whether it is on the validated path") {
            $0.isSent
        },
        Fact("onPath") { $0.isOnPath },
    ]

    private var subject: DistinguishedName? {
        switch item {
        case .certificate(let certificate): certificate.subject
        case .unfit(let certificate): certificate.outline.subjectName
        case .request(let request): request.subject
        case .key: nil
        }
    }

    private var issuer: DistinguishedName? {
        switch item {
        case .certificate(let certificate): certificate.issuer
        case .unfit(let certificate): certificate.outline.issuerName
        case .request, .key: nil
        }
    }

    private var fingerprint: CertificatePin? {
        switch item {
        case .certificate(let certificate): certificate.fingerprint
        case .unfit(let certificate): certificate.outline.fingerprint
        case .request, .key: nil
        }
    }
}
