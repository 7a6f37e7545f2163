internal import Pintle
internal import PintleSystem

/// Every field of certificates, requests and keys.
struct CertificateInspection {
    let source: String
    let entries: [PinEntry]
    let now: Date
    let isVerbose: Bool

    // MARK: Text

    var report: Report {
        let name = source == "-" ? "stdin" : source
        var report = Report("\(name)   \(ValidityText.counted(entries.count, "item")); nothing was verified")
        report.layout.labelColumns = 14
        for entry in entries {
            report.gap()
            report.line("\(entry.position)")
            switch entry.item {
            case .certificate(let certificate): add(certificate, to: &report)
            case .request(let request):
                report.fact("subject", .wrapped("\(claim: request.subject)"))
                report.fact("key", .wrapped("\(request.publicKey)"))
                report.fact("pin", "\(request.publicKeyPin)")
            case .key(let key, let isPrivate):
                report.fact("key", .wrapped("\(key.description), \(isPrivate ? "private" : "public")"))
                report.fact("pin", "\(key.pin)")
                if let id = key.updateKeyID { report.fact("update key id", "\(id)") }
            }
        }
        return report
    }

    private func add(_ certificate: Certificate, to report: inout Report) {
        let facts = CertificateFacts(certificate)
        report.fact("subject", .wrapped(certificate.subject.isEmpty ? "(none)" : "\(claim: certificate.subject)"))
        report.fact("issuer", .wrapped("\(claim: certificate.issuer)"))
        report.fact("serial", "\(facts.serialNumber)")
        report.fact("version", "\(certificate.version)")
        report.fact("valid", .wrapped(ValidityText.period(certificate.validity, now: now)))
        report.fact("key", .wrapped("\(certificate.publicKey)"))
        report.fact("pin", "\(certificate.publicKeyPin)")
        report.fact("cert", "\(certificate.fingerprint)")
        func add(_ label: Line, _ items: [String]?) {
            guard let items, !items.isEmpty else { return }
            let rest = isVerbose || items.count <= 20 ? 0 : items.count - 20
            let shown = items.dropLast(rest).joined(separator: ", ")
            report.fact(label, .wrapped("\(claim: shown)\(rest > 0 ? ", + \(rest) more" : "")"))
        }
        add("names", facts.names)
        if let constraints = certificate.basicConstraints {
            let limit = constraints.pathLength.map { ", at most \(ValidityText.counted($0, "authority")) below" } ?? ""
            report.fact("authority", .wrapped("\(constraints.isCA ? "yes" : "no")\(limit)"))
        }
        add("usage", facts.keyUsage)
        add("purposes", facts.purposes)
        add("permitted", facts.permittedNames)
        add("excluded", facts.excludedNames)
    }

    // MARK: JSON

    var document: JSONWriter {
        .document { json in
            json.member("source", source)
            json.member("kind", Self.kind(of: entries))
            json.member("verified", false)
            json.objects("certificates", entries, Self.write)
        }
    }

    /// Returns `certificate`, `request` or `key`, after the first item.
    private static func kind(of entries: [PinEntry]) -> String {
        switch entries.first?.item {
        case .certificate, nil: "certificate"
        case .request: "request"
        case .key: "key"
        }
    }

    private static func write(_ json: inout JSONWriter, _ entry: PinEntry) {
        json.member("position", entry.position)
        switch entry.item {
        case .certificate(let certificate): CertificateFacts(certificate).write(to: &json)
        case .request(let request):
            json.member("subject", request.subject.description)
            PinReport.write(request.publicKey, request.publicKeyPin, to: &json)
        case .key(let key, let isPrivate):
            json.member("isPrivate", isPrivate)
            PinReport.write(key.description, key.pin, to: &json)
            json.member("updateKeyID", key.updateKeyID)
        }
    }
}

/// The fields of a certificate as text.
struct CertificateFacts {
    let certificate: Certificate

    init(_ certificate: Certificate) {
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
    var purposes: [String]? {
        certificate.extendedKeyUsage?.purposes.map { Self.purposes[$0.description] ?? $0.description }
    }

    var permittedNames: [String]? { certificate.nameConstraints?.permitted.map(\.description) }
    var excludedNames: [String]? { certificate.nameConstraints?.excluded.map(\.description) }

    private static let purposes = [
        "1.3.6.1.5.5.7.3.1": "serverAuth", "1.3.6.1.5.5.7.3.2": "clientAuth", "1.3.6.1.5.5.7.3.3": "codeSigning",
        "1.3.6.1.5.5.7.3.4": "emailProtection", "1.3.6.1.5.5.7.3.8": "timeStamping",
        "1.3.6.1.5.5.7.3.9": "OCSPSigning", "2.5.29.37.0": "anyExtendedKeyUsage",
    ]

    func write(to json: inout JSONWriter) {
        json.member("subject", certificate.subject.description)
        json.member("issuer", certificate.issuer.description)
        json.member("serialNumber", serialNumber)
        json.member("version", certificate.version)
        PinReport.write(certificate.publicKey, certificate.publicKeyPin, to: &json)
        json.member("certificateSHA256", certificate.fingerprint.description)
        json.member("notBefore", certificate.validity.notBefore)
        json.member("notAfter", certificate.validity.notAfter)
        json.member("isCA", certificate.isCA)
        json.member("pathLength", certificate.basicConstraints?.pathLength)
        json.member("names", names)
        json.member("keyUsage", keyUsage)
        json.member("purposes", purposes)
        json.member("permittedNames", permittedNames)
        json.member("excludedNames", excludedNames)
    }
}
