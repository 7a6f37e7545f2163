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
            report.add(Item.facts, of: item(entry))
        }
        return report
    }

    private func item(_ entry: PinEntry) -> Item { Item(entry: entry, now: now, isVerbose: isVerbose) }

    /// A certificate, a request or a key, and what its text depends on.
    struct Item {
        let entry: PinEntry
        let now: Date
        let isVerbose: Bool
    }

    // MARK: JSON

    var document: JSONWriter {
        .document { json in
            json.member("source", source)
            json.member("kind", Self.kind(of: entries))
            json.member("verified", false)
            json.objects("certificates", entries) { $0.write(Item.facts, of: item($1)) }
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

extension CertificateInspection.Item {
    static let facts: [Fact<Self>] = [
        PinEntry.names.map { $0.of(\.entry) },
        [
            Fact("serialNumber", shown: "serial", "The serial number in hex, and the version of X.509") {
                $0.fields?.serialNumber
            },
            Fact("version", shown: "version") { $0.certificate?.version },
            Fact("isPrivate", "Whether the file has the private half of the key") {
                if case .key(_, let isPrivate) = $0.entry.item { isPrivate } else { nil }
            },
        ],
        PinEntry.key.map { $0.of(\.entry) },
        [
            Fact("updateKeyID", shown: "update key id", "The id that updates use for an Ed25519 key") {
                if case .key(let key, _) = $0.entry.item { key.updateKeyID } else { nil }
            }
        ],
        PinEntry.certificate.map { fact in
            fact.key == "notBefore" ? fact.of(\.entry).shown(as: "valid", isWrapped: true, valid) : fact.of(\.entry)
        },
        [
            Fact("pathLength", "The authorities that may follow below") { $0.certificate?.basicConstraints?.pathLength }
                .shown(as: "authority", isWrapped: true) { item in
                    guard let constraints = item.certificate?.basicConstraints else { return [] }
                    let limit = constraints.pathLength.map {
                        ", at most \(ValidityText.counted($0, "authority")) below"
                    }
                    return ["\(constraints.isCA ? "yes" : "no")\(limit ?? "")"]
                },
            list("names", as: "names", "The names of servers") { $0.names },
            list("keyUsage", as: "usage", "Uses, as RFC 5280 names them") { $0.keyUsage },
            list("purposes", as: "purposes") { $0.purposes },
            list("permittedNames", as: "permitted", "The name constraints of an authority") { $0.permittedNames },
            list("excludedNames", as: "excluded") { $0.excludedNames },
            Fact("problem", shown: "problem", "The reason why a certificate is unfit") { $0.entry.item.defect },
        ],
    ].flatMap(\.self)

    private static func list(
        _ key: String, as label: String, _ help: String? = nil,
        _ items: @escaping @Sendable (CertificateFacts) -> [String]?
    ) -> Fact<Self> {
        Fact(key, help) { $0.fields.flatMap(items) }
            .shown(as: label, isWrapped: true) { item in
                guard let items = item.fields.flatMap(items), !items.isEmpty else { return [] }
                let rest = item.isVerbose ? 0 : max(0, items.count - 20)
                let shown = items.dropLast(rest).joined(separator: ", ")
                return ["\(claim: shown)\(rest > 0 ? ", + \(rest) more" : "")"]
            }
    }

    @Sendable private static func valid(_ item: Self) -> [Line] {
        item.certificate.map { [ValidityText.period($0.validity, now: item.now)] } ?? []
    }

    private var certificate: Certificate? { entry.item.certificate }
    private var fields: CertificateFacts? { certificate.map(CertificateFacts.init) }
}
