internal import Pintle
internal import PintleSystem

/// The output of `pin`, as text and as JSON.
struct PinReport {
    let console: Console
    let now: Date
    let isVerbose: Bool
    /// The file that replaces the system's roots; `nil` if they count.
    var anchors: String?

    func print(_ listings: [PinListing]) {
        for (index, listing) in listings.enumerated() {
            if index > 0 { console.print() }
            console.print(headline(of: listing))
            for entry in listing.entries {
                console.print()
                print(entry)
            }
            printAdvice(on: listing)
        }
    }

    private func headline(of listing: PinListing) -> String {
        guard let server = listing.server else {
            let name = listing.source == "-" ? "stdin" : SafeText.escape(listing.source)
            return "\(name)   \(Self.contents(of: listing)), not validated"
        }
        let verdict =
            server.failure.map { console.palette.bad("NOT trusted by \(authority): \($0.code.rawValue)") }
            ?? console.palette.good("trusted by \(authority)")
        let facts = [verdict, server.protocolVersion, server.address.map(console.palette.dim)].compactMap(\.self)
        return "\(server.endpoint)   " + facts.joined(separator: "   ")
    }

    private var authority: String { anchors.map { "the roots of \(SafeText.escape($0))" } ?? "the system" }

    /// `2 certificates, 1 key`
    private static func contents(of listing: PinListing) -> String {
        let positions = listing.entries.map(\.position)
        let keys = positions.count { $0 == "key" }
        let requests = positions.count { $0 == "csr" }
        let certificates = positions.count - keys - requests
        return [(certificates, "certificate"), (requests, "request"), (keys, "key")]
            .filter { $0.0 > 0 }
            .map { $0.0 == 1 ? "1 \($0.1)" : "\($0.0) \($0.1)s" }
            .joined(separator: ", ")
    }

    // MARK: Blocks

    private func print(_ entry: PinEntry) {
        switch entry.item {
        case .certificate(let certificate): print(certificate, entry)
        case .request(let request):
            printHead(entry, name: "\(request.subject)", facts: ["\(request.publicKey)"])
            printField("pin", request.publicKeyPin.description)
        case .key(let key, let isPrivate):
            printHead(entry, name: isPrivate ? "private key" : "public key", facts: ["\(key.description)"])
            printField("pin", key.pin.description)
        }
        if let remark = entry.remark { printField("note", remark) }
    }

    private func print(_ certificate: Certificate, _ entry: PinEntry) {
        var facts = ["\(certificate.publicKey)"]
        if certificate.isCA { facts.append("CA") }
        if entry.isSent == false { facts.append("not sent") }
        let name = certificate.subject.isEmpty ? "(no subject)" : "\(certificate.subject)"
        printHead(entry, name: name, facts: facts)
        printField("pin", certificate.publicKeyPin.description)
        printField("cert", certificate.fingerprint.description)
        printField("valid", ValidityText.period(certificate.validity, now: now, palette: console.palette))
        let names = (certificate.subjectAlternativeNames ?? []).map(\.description)
        guard !names.isEmpty else { return }
        if isVerbose {
            for (index, line) in TextLayout.wrapped(names.joined(separator: ", "), width: console.width - 14)
                .enumerated()
            {
                printField(index == 0 ? "names" : "", line)
            }
        } else {
            printField("names", TextLayout.list(names, width: console.width - 14, ellipsis: console.ellipsis))
        }
    }

    private static let labelWidth = 7

    private func printHead(_ entry: PinEntry, name: String, facts: [String]) {
        let name = SafeText.claim(name)
        let tail = facts.joined(separator: "  ")
        let room = console.width - Self.labelWidth - 2 - tail.count
        let shown = isVerbose ? name : TextLayout.shortened(name, to: room, ellipsis: console.ellipsis)
        console.print(
            TextLayout.padded(entry.position, to: Self.labelWidth)
                + TextLayout.padded(shown, to: min(51, room)) + "  " + tail)
    }

    private func printField(_ label: String, _ value: String) {
        console.print(String(repeating: " ", count: Self.labelWidth) + TextLayout.padded(label, to: 7) + value)
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

    private func printAdvice(on listing: PinListing) {
        let positions = listing.entries.map(\.position)
        if let server = listing.server {
            if let failure = server.failure {
                let indent = "\n" + String(repeating: " ", count: 14)
                console.printMessage("\nfirst:        " + Self.obstacle(failure).joined(separator: indent))
            }
            let host = server.endpoint.port == 443 ? "\(server.endpoint.host)" : "\(server.endpoint)"
            console.printMessage(
                """

                which to pin: the leaf key if you keep it when the certificate is renewed, else the root.
                              Always a second one that is not in use yet. A backup key, then a policy:
                                openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:P-256 -out backup.key
                                pintle pin \(host) backup.key --as policy -o policy.json
                """)
        } else if positions.allSatisfy({ $0 == "key" }) {
            console.printMessage(
                "\nthere is no certificate: the pin is that of the key, in any certificate")
        }
    }
}

// MARK: JSON

extension PinReport {
    static func document(_ listings: [PinListing]) -> JSONWriter {
        var json = JSONWriter(.pretty)
        json.array { json in
            for listing in listings {
                json.object { json in
                    json.member("source", listing.source)
                    if let server = listing.server {
                        json.member("systemVerdict", server.failure == nil ? "trusted" : "rejected")
                        json.member("pathFailure", server.failure?.code.rawValue)
                    }
                    json.array("certificates") { json in
                        for entry in listing.entries { write(entry, to: &json) }
                    }
                }
            }
        }
        return json
    }

    private static func write(_ entry: PinEntry, to json: inout JSONWriter) {
        json.object { json in
            json.member("position", entry.position)
            switch entry.item {
            case .certificate(let certificate):
                json.member("subject", certificate.subject.description)
                json.member("issuer", certificate.issuer.description)
                write(certificate.publicKey, certificate.publicKeyPin, to: &json)
                json.member("certificateSHA256", certificate.fingerprint.description)
                json.member("notBefore", RFC3339.string(from: certificate.validity.notBefore))
                json.member("notAfter", RFC3339.string(from: certificate.validity.notAfter))
                json.member("isCA", certificate.isCA)
            case .request(let request):
                json.member("subject", request.subject.description)
                write(request.publicKey, request.publicKeyPin, to: &json)
            case .key(let key, _):
                write(key.description, key.pin, to: &json)
            }
            json.member("sent", entry.isSent)
            json.member("onPath", entry.isOnPath)
        }
    }

    static func write(_ key: PublicKeyDescription, _ pin: PublicKeyPin, to json: inout JSONWriter) {
        json.member("keyType", key.type)
        json.member("keyBits", key.bits)
        json.member("spkiPin", pin.description)
    }
}

/// One certificate or key as `pin` lists it.
struct PinEntry {
    /// `leaf`, `1`, `2`..., `root`, `extra`, `key`, `csr`.
    let position: String
    let item: SourceItem
    /// A Boolean value that indicates whether the server sent it; `nil` for files.
    var isSent: Bool?
    /// A Boolean value that indicates whether it is on the validated path; `nil` for files.
    var isOnPath: Bool?
    /// A remark about the position.
    var remark: String?

    /// Lists the items of a file. A file of certificates begins with the leaf, as a chain file does, so the position is
    /// that in the file and does not mean that the path was validated. A last certificate that names itself as its issuer
    /// is called root. Keys and requests are listed where they are.
    static func list(_ items: [SourceItem]) -> [PinEntry] {
        let certificateCount = items.count { $0.certificate != nil }
        var depth = 0
        return items.map { item in
            switch item {
            case .certificate(let certificate):
                defer { depth += 1 }
                let position = position(
                    depth, of: certificateCount, isRoot: certificate.isCA && certificate.isSelfIssued)
                return PinEntry(position: position, item: item)
            case .request: return PinEntry(position: "csr", item: item)
            case .key: return PinEntry(position: "key", item: item)
            }
        }
    }

    static func position(_ depth: Int, of count: Int, isRoot: Bool) -> String {
        if depth == 0 { return "leaf" }
        return depth == count - 1 && isRoot ? "root" : "\(depth)"
    }
}

/// The result of `pin` for one source.
struct PinListing {
    /// The source as it was given; `host:port` for servers.
    let source: String
    let entries: [PinEntry]
    var server: ServerFindings?

    /// The results of a handshake beside the certificates.
    struct ServerFindings {
        let endpoint: ServerEndpoint
        /// The reason why the system does not trust it; `nil` if it does.
        let failure: PathFailure?
        /// `TLS 1.3`; `nil` if the handshake broke after the certificate.
        let protocolVersion: String?
        let address: String?
    }
}
