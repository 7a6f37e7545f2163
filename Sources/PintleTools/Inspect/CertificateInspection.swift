internal import FoundationEssentials
internal import Pintle

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
