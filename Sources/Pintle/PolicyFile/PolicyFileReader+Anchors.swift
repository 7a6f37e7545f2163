extension PolicyFileReader {
    mutating func readAnchors(_ value: JSONValue, at path: @autoclosure () -> PolicyPath) -> TrustAnchors {
        if let known = anchorSets[value.source] { return known }
        let path = path()
        let count = problems.count
        guard let members = members(of: value, as: PolicyFileKeys.Anchors.self, at: path) else { return .system }
        let system = members[.system].flatMap { boolean($0, at: path["system"]) } ?? false
        var certificates: [Certificate] = []
        if let include = members[.include], let list = elements(of: include, at: path["include"]) {
            for (index, element) in list.enumerated() where !isFull {
                certificates += readCertificates(element, at: path["include"][index])
            }
        }
        // Broken anchors were reported; to call them empty as well would be one complaint too many.
        guard problems.count == count else { return .system }
        let anchors = TrustAnchors(certificates, includesSystem: system)
        anchorSets[value.source] = anchors
        return anchors
    }

    private mutating func readCertificates(_ value: JSONValue, at path: PolicyPath) -> [Certificate] {
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

    private mutating func certificates(
        _ bytes: [UInt8], of source: String, _ value: JSONValue, _ path: PolicyPath
    ) -> [Certificate] {
        do throws(CertificateBundleError) {
            return try CertificateBundle(bytes).certificates
        } catch {
            for problem in error.problems where !isFull {
                let id = problem == .nothing ? "no-anchor" : "invalid-anchor"
                report(id, value, path, "\(source): \(problem)", help: problem.help)
            }
            return []
        }
    }
}
