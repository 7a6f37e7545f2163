internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleText

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
            case .unfit(let certificate):
                if let subject = certificate.outline.subjectName {
                    report.fact("subject", .wrapped("\(claim: subject)"))
                }
                if let issuer = certificate.outline.issuerName {
                    report.fact("issuer", .wrapped("\(claim: issuer)"))
                }
                report.fact("key", .wrapped("\(certificate.outline.publicKey)"))
                report.fact("pin", "\(certificate.outline.publicKeyPin)")
                report.fact("cert", "\(certificate.outline.fingerprint)")
                if let defect = entry.item.defect { report.fact("problem", .wrapped("\(defect)")) }
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
            json.objects("certificates", entries) { $0.write(PinEntry.details, of: $1) }
        }
    }

    /// Returns `certificate`, `request` or `key`, after the first item.
    private static func kind(of entries: [PinEntry]) -> String {
        switch entries.first?.item {
        case .certificate, .unfit, nil: "certificate"
        case .request: "request"
        case .key: "key"
        }
    }
}
