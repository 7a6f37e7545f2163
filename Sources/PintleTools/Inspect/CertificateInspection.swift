internal import Pintle
internal import PintleSystem

/// Every field of certificates, requests and keys.
struct CertificateInspection {
    let source: String
    let entries: [PinEntry]
    let console: Console
    let now: Date
    let isVerbose: Bool

    /// One line of a block: its label for people, its JSON key, and its value.
    private struct Field {
        let label: String
        let text: String
    }

    // MARK: Text

    func print() {
        let name = source == "-" ? "stdin" : SafeText.escape(source)
        console.print("\(name)   \(ValidityText.counted(entries.count, "item")); nothing was verified")
        for entry in entries {
            console.print()
            console.print(entry.position)
            for field in fields(of: entry.item) { print(field) }
        }
    }

    private func print(_ field: Field) {
        let indent = 16
        // Hashes and names are tokens without blanks, so wrapping keeps them whole.
        for (index, line) in TextLayout.wrapped(SafeText.claim(field.text), width: console.width - indent).enumerated()
        {
            console.print("  " + TextLayout.padded(index == 0 ? field.label : "", to: indent - 2) + line)
        }
    }

    private func fields(of item: SourceItem) -> [Field] {
        switch item {
        case .certificate(let certificate): fields(of: certificate)
        case .request(let request):
            [
                Field(label: "subject", text: "\(request.subject)"),
                Field(label: "key", text: "\(request.publicKey)"),
                Field(label: "pin", text: "\(request.publicKeyPin)"),
            ]
        case .key(let key, let isPrivate):
            [
                Field(label: "key", text: "\(key.description), \(isPrivate ? "private" : "public")"),
                Field(label: "pin", text: "\(key.pin)"),
            ] + (key.updateKeyID.map { [Field(label: "update key id", text: $0)] } ?? [])
        }
    }

    private func fields(of certificate: Certificate) -> [Field] {
        let facts = CertificateFacts(certificate)
        var fields = [
            Field(label: "subject", text: certificate.subject.isEmpty ? "(none)" : "\(certificate.subject)"),
            Field(label: "issuer", text: "\(certificate.issuer)"),
            Field(label: "serial", text: facts.serialNumber),
            Field(label: "version", text: "\(certificate.version)"),
            Field(label: "valid", text: ValidityText.period(certificate.validity, now: now, palette: console.palette)),
            Field(label: "key", text: "\(certificate.publicKey)"),
            Field(label: "pin", text: "\(certificate.publicKeyPin)"),
            Field(label: "cert", text: "\(certificate.fingerprint)"),
        ]
        func add(_ label: String, _ items: [String]?) {
            guard let items, !items.isEmpty else { return }
            let shown =
                isVerbose || items.count <= 20
                ? items.joined(separator: ", ")
                : items.prefix(20).joined(separator: ", ") + ", + \(items.count - 20) more"
            fields.append(Field(label: label, text: shown))
        }
        add("names", facts.names)
        if let constraints = certificate.basicConstraints {
            let limit = constraints.pathLength.map { ", at most \(ValidityText.counted($0, "authority")) below" } ?? ""
            fields.append(Field(label: "authority", text: (constraints.isCA ? "yes" : "no") + limit))
        }
        add("usage", facts.keyUsage)
        add("purposes", facts.purposes)
        add("permitted", facts.permittedNames)
        add("excluded", facts.excludedNames)
        return fields
    }

    // MARK: JSON

    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("source", source)
            json.member("kind", Self.kind(of: entries))
            json.member("verified", false)
            json.array("certificates") { json in
                for entry in entries { Self.write(entry, to: &json) }
            }
        }
        return json
    }

    /// Returns `certificate`, `request` or `key`, after the first item.
    private static func kind(of entries: [PinEntry]) -> String {
        switch entries.first?.item {
        case .certificate, nil: "certificate"
        case .request: "request"
        case .key: "key"
        }
    }

    private static func write(_ entry: PinEntry, to json: inout JSONWriter) {
        json.object { json in
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
        json.member("notBefore", RFC3339.string(from: certificate.validity.notBefore))
        json.member("notAfter", RFC3339.string(from: certificate.validity.notAfter))
        json.member("isCA", certificate.isCA)
        json.member("pathLength", certificate.basicConstraints?.pathLength)
        json.member("names", names)
        json.member("keyUsage", keyUsage)
        json.member("purposes", purposes)
        json.member("permittedNames", permittedNames)
        json.member("excludedNames", excludedNames)
    }
}
