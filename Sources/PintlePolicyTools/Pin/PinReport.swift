package import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleText

/// The output of `pin` for one source, as text and as JSON.
struct PinReport {
    let listing: PinListing
    let now: Date
    /// The file that replaces the system's roots; `nil` if they count.
    var anchors: String?
    /// See ``Invocation/serverOptions``.
    var serverOptions: [String] = []

    var report: Report {
        var report = Report(headline)
        for entry in listing.entries {
            report.gap()
            add(entry, to: &report)
        }
        return report
    }

    private var headline: Line {
        guard let server = listing.server else {
            return "\(listing.source == "-" ? "stdin" : listing.source)   \(contents), not validated"
        }
        let verdict: Line =
            server.failure.map { "\("NOT trusted by \(authority): \($0.code.rawValue)", .bad)" }
            ?? "\("trusted by \(authority)", .good)"
        let version: Line = server.protocolVersion.map { "   \($0)" } ?? ""
        let address: Line = server.address.map { "   \($0, .dim)" } ?? ""
        return "\(server.endpoint)   \(verdict)\(version)\(address)"
    }

    private var authority: String { anchors.map { "the roots of \($0)" } ?? "the system" }

    /// `2 certificates, 1 key`
    private var contents: String {
        let positions = listing.entries.map(\.position)
        let keys = positions.count { $0 == "key" }
        let requests = positions.count { $0 == "csr" }
        let certificates = positions.count - keys - requests
        return [(certificates, "certificate"), (requests, "request"), (keys, "key")]
            .filter { $0.0 > 0 }
            .map { ValidityText.counted($0.0, $0.1) }
            .joined(separator: ", ")
    }

    private func add(_ entry: PinEntry, to report: inout Report) {
        let columns = 7
        report.layout = Report.FactLayout(indent: 0, labelColumns: columns)
        switch entry.item {
        case .certificate(let certificate):
            let facts = [
                "\(certificate.publicKey)", certificate.isCA ? "CA" : nil, entry.isSent == false ? "not sent" : nil,
            ]
            let name = certificate.subject.isEmpty ? "(no subject)" : "\(certificate.subject)"
            report.fact("\(entry.position)", .title(name, facts.compactMap(\.self).joined(separator: "  ")))
        case .unfit(let certificate):
            let name = certificate.outline.subjectName.map { "\($0)" } ?? "(no readable subject)"
            report.fact("\(entry.position)", .title(name, "\(certificate.outline.publicKey)"))
        case .request(let request):
            report.fact("\(entry.position)", .title("\(request.subject)", "\(request.publicKey)"))
        case .key(let key, let isPrivate):
            report.fact("\(entry.position)", .title(isPrivate ? "private key" : "public key", "\(key.description)"))
        }
        report.layout = Report.FactLayout(indent: columns, labelColumns: columns)
        report.fact("pin", "\(entry.item.publicKeyPin)")
        if let certificate = entry.item.certificate {
            report.fact("cert", "\(certificate.fingerprint)")
            report.fact("valid", ValidityText.period(certificate.validity, now: now))
            if !certificate.names.isEmpty { report.fact("names", .names(certificate.names)) }
        } else if case .unfit(let certificate) = entry.item {
            report.fact("cert", "\(certificate.outline.fingerprint)")
        }
        if let remark = entry.remark { report.fact("note", "\(remark)") }
    }

    // MARK: Advice

    /// Returns the reason why the pins of a server are useless until its path is valid.
    static func obstacle(_ failure: PathFailure) -> [String] {
        let start = "the path is not valid here (\(failure.code.rawValue)), and a pin never makes it valid"
        switch failure.code {
        case .selfSigned, .untrustedRoot:
            return [
                start + ". A private root,",
                "or the server's own certificate, goes into the rule: \"anchors\": {\"include\": [\"root.pem\"]}",
            ]
        default: return [start + ": fix that first"]
        }
    }

    /// The advice for people, which is no part of the result.
    var advice: Report {
        var report = Report()
        report.layout = Report.FactLayout(indent: 0, labelColumns: 14)
        if let server = listing.server {
            if let failure = server.failure {
                report.gap()
                report.fact("first:", Self.obstacle(failure).map { "\($0)" })
            }
            report.gap()
            let host = server.endpoint.port == 443 ? "\(server.endpoint.host)" : "\(server.endpoint)"
            let command = Invocation.line(
                ["pintle", "pin", host, "backup.key", "--as", "policy", "-o", "policy.json"] + serverOptions)
            report.fact(
                "which to pin:",
                [
                    "the leaf key if you keep it when the certificate is renewed, else the root.",
                    "Always a second one that is not in use yet. A backup key, then a policy:",
                    "  openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:P-256 -out backup.key",
                    "  \(command)",
                ])
        } else if listing.entries.allSatisfy({ $0.position == "key" }) {
            report.gap()
            report.line("there is no certificate: the pin is that of the key, in any certificate")
        }
        return report
    }
}

// MARK: JSON

extension PinReport {
    static func document(_ listings: [PinListing]) -> JSONWriter {
        .document(listing: listings) { json, listing in
            json.member("source", listing.source)
            if let server = listing.server {
                json.member("systemVerdict", server.failure == nil ? "trusted" : "rejected")
                json.member("pathFailure", server.failure?.code.rawValue)
            }
            json.objects("certificates", listing.entries) { $0.write(PinEntry.facts, of: $1) }
        }
    }
}

/// One certificate or key as `pin` lists it.
package struct PinEntry {
    /// `leaf`, `1`, `2`..., `root`, `extra`, `key`, `csr`.
    let position: String
    let item: SourceItem
    /// A Boolean value that indicates whether the server sent it; `nil` for files.
    let isSent: Bool?
    /// A Boolean value that indicates whether it is on the validated path; `nil` for files.
    let isOnPath: Bool?
    /// A remark about the position.
    let remark: String?

    package init(
        position: String, item: SourceItem, isSent: Bool? = nil, isOnPath: Bool? = nil, remark: String? = nil
    ) {
        self.position = position
        self.item = item
        self.isSent = isSent
        self.isOnPath = isOnPath
        self.remark = remark
    }

    /// The reason why a pin of the key would never match; `nil` if there is none. The value of a root's key is not
    /// judged, as in a path.
    var problem: String? {
        position == "root" && item.publicKey.isAcceptedInPaths ? nil : item.problem?.text
    }

    /// Lists the items of a file. A file of certificates begins with the leaf, as a chain file does, so the position is
    /// that in the file and does not mean that the path was validated. A later certificate that names servers, and that
    /// no authority of the file needs, begins the chain of other servers. A last certificate that names itself as its
    /// issuer is called root. Keys and requests are listed where they are.
    static func list(_ items: [SourceItem]) -> [PinEntry] {
        let chains = FileChains(items)
        return items.indices.map { index in
            switch items[index] {
            case .certificate, .unfit:
                let (depth, count) = chains.place(of: index)
                let isRoot = items[index].certificate.map { $0.isCA && $0.isSelfIssued } ?? false
                return PinEntry(position: position(depth, of: count, isRoot: isRoot), item: items[index])
            case .request: return PinEntry(position: "csr", item: items[index])
            case .key: return PinEntry(position: "key", item: items[index])
            }
        }
    }

    static func position(_ depth: Int, of count: Int, isRoot: Bool) -> String {
        if depth == 0 { return "leaf" }
        return depth == count - 1 && isRoot ? "root" : "\(depth)"
    }
}

/// The result of `pin` for one source.
package struct PinListing {
    /// The source as it was given; `host:port` for servers.
    let source: String
    let entries: [PinEntry]
    let server: ServerFacts?

    package init(source: String, entries: [PinEntry], server: ServerFacts? = nil) {
        self.source = source
        self.entries = entries
        self.server = server
    }

    /// The results of a handshake beside the certificates.
    package struct ServerFacts {
        let endpoint: ServerEndpoint
        /// The reason why the system does not trust it; `nil` if it does.
        let failure: PathFailure?
        /// The end of the path in DER, if it is one of `--anchors`.
        let ownAnchor: [UInt8]?
        /// `TLS 1.3`; `nil` if the handshake broke after the certificate.
        let protocolVersion: String?
        let address: String?

        package init(
            endpoint: ServerEndpoint, failure: PathFailure?, ownAnchor: [UInt8]?, protocolVersion: String?,
            address: String?
        ) {
            self.endpoint = endpoint
            self.failure = failure
            self.ownAnchor = ownAnchor
            self.protocolVersion = protocolVersion
            self.address = address
        }
    }
}
