package import Pintle
internal import PintlePolicyFile

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

    /// - Parameter isDetailed: `true` for what `inspect` shows beyond the members that `pin` has.
    fileprivate func write(to json: inout JSONWriter, isDetailed: Bool) {
        json.member("subject", certificate.subject.description)
        json.member("issuer", certificate.issuer.description)
        if isDetailed {
            json.member("serialNumber", serialNumber)
            json.member("version", certificate.version)
        }
        certificate.publicKey.write(certificate.publicKeyPin, to: &json)
        json.member("certificateSHA256", certificate.fingerprint.description)
        json.member("notBefore", certificate.validity.notBefore)
        json.member("notAfter", certificate.validity.notAfter)
        json.member("isCA", certificate.isCA)
        guard isDetailed else { return }
        json.member("pathLength", certificate.basicConstraints?.pathLength)
        json.member("names", names)
        json.member("keyUsage", keyUsage)
        json.member("purposes", purposes)
        json.member("permittedNames", permittedNames)
        json.member("excludedNames", excludedNames)
    }
}

extension PinEntry {
    /// - Parameter isDetailed: `true` for what `inspect` shows beyond the members that `pin` has.
    func write(to json: inout JSONWriter, isDetailed: Bool) {
        json.member("position", position)
        switch item {
        case .certificate(let certificate): CertificateFacts(certificate).write(to: &json, isDetailed: isDetailed)
        case .unfit(let certificate):
            json.member("subject", certificate.outline.subjectName?.description)
            json.member("issuer", certificate.outline.issuerName?.description)
            certificate.outline.publicKey.write(certificate.outline.publicKeyPin, to: &json)
            json.member("certificateSHA256", certificate.outline.fingerprint.description)
        case .request(let request):
            json.member("subject", request.subject.description)
            request.publicKey.write(request.publicKeyPin, to: &json)
        case .key(let key, let isPrivate):
            if isDetailed { json.member("isPrivate", isPrivate) }
            key.description.write(key.pin, to: &json)
            if isDetailed { json.member("updateKeyID", key.updateKeyID) }
        }
        json.member("sent", isSent)
        json.member("onPath", isOnPath)
        json.member("problem", isDetailed ? item.defect : problem ?? item.defect)
    }
}

extension PublicKeyDescription {
    fileprivate func write(_ pin: PublicKeyPin, to json: inout JSONWriter) {
        json.member("keyType", type)
        json.member("keyBits", bits)
        json.member("spkiPin", pin.description)
    }
}
