extension PolicyFileReader {
    mutating func readAnchors(_ value: JSONValue, at path: String) -> TrustAnchors {
        if let known = anchorSets[value.source] { return known }
        let count = problems.count
        guard let members = members(of: value, as: PolicyFileKeys.Anchors.self, at: path) else { return .system }
        let system = members[.system].flatMap { boolean($0, at: "\(path).system") } ?? false
        var certificates: [Certificate] = []
        if let include = members[.include] {
            for (index, element) in elements(of: include, at: "\(path).include").enumerated() where !isFull {
                certificates += readCertificates(element, at: "\(path).include[\(index)]")
            }
        }
        // Broken anchors were reported; to call them empty as well would be one complaint too many.
        guard problems.count == count else { return .system }
        let anchors = TrustAnchors(certificates, includesSystem: system)
        anchorSets[value.source] = anchors
        return anchors
    }

    private mutating func readCertificates(_ value: JSONValue, at path: String) -> [Certificate] {
        guard let text = string(value, at: path) else { return [] }
        if text.hasPrefix("-----BEGIN") { return certificates(Array(text.utf8), of: "the inline PEM", value, path) }
        guard let resolvingFile else {
            report(
                "anchor-file-not-allowed", value, path, "the anchor file \(quoted(value)) cannot be read from here",
                help: "put the certificate itself in: its PEM text, line breaks as \\n")
            return []
        }
        let bytes: [UInt8]
        do {
            bytes = try resolvingFile(text)
        } catch {
            report(
                "unreadable-anchor-file", value, path, "cannot read the anchor file \(quoted(value)): \(error)",
                help: "paths are relative to the policy file")
            return []
        }
        return certificates(bytes, of: "\(quoted(value))", value, path)
    }

    /// Every certificate of a file, PEM or a single DER; one that cannot be read is reported with its number.
    private mutating func certificates(
        _ bytes: [UInt8], of source: String, _ value: JSONValue, _ path: String
    ) -> [Certificate] {
        if bytes.first == 0x30, !PEMReader.looksLikePEM(bytes) {
            return certificate(bytes, called: source, value, path).map { [$0] } ?? []
        }
        var certificates: [Certificate] = []
        var reader = PEMReader(bytes, maximumBlockSize: Certificate.maximumSize)
        var blocks = 0
        while !isFull {
            do throws(PEMError) {
                guard let block = try reader.next() else { break }
                blocks += 1
                guard block.label == "CERTIFICATE" || block.label == "X509 CERTIFICATE" else {
                    reportLabel(block, of: source, value, path)
                    continue
                }
                if let certificate = certificate(block.bytes, called: "block \(block.number) of \(source)", value, path)
                {
                    certificates.append(certificate)
                }
            } catch {
                blocks += 1
                report(
                    "invalid-anchor", value, path,
                    "block \(error.block) of \(source), line \(error.line): \(error.message)",
                    help: error.hint ?? "export the certificate again")
            }
        }
        if blocks == 0 {
            report(
                "no-anchor", value, path, "\(source) holds no certificate",
                help: "name a PEM file with -----BEGIN CERTIFICATE-----")
        }
        return certificates
    }

    private mutating func certificate(
        _ der: [UInt8], called name: String, _ value: JSONValue, _ path: String
    ) -> Certificate? {
        do throws(DERError) {
            return try Certificate(der: der)
        } catch {
            report(
                "invalid-anchor", value, path, "\(name) is not a certificate: \(error)",
                help: "export the certificate again")
            return nil
        }
    }

    private mutating func reportLabel(_ block: PEMBlock, of source: String, _ value: JSONValue, _ path: String) {
        let isTrusted = block.label == "TRUSTED CERTIFICATE"
        report(
            "invalid-anchor", value, path,
            "block \(block.number) of \(source), line \(block.line), is a \(block.label), not a CERTIFICATE",
            help: isTrusted
                ? "convert it: openssl x509 -in FILE -out PLAIN" : "keep only certificates in the file")
    }
}
