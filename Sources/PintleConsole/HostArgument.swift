internal import Pintle
internal import PintleOpenSSL
internal import PintleSystem

/// A server on the command line: `host`, `host:port` or an https URL.
enum HostArgument {
    static func endpoint(_ text: String, defaultPort: UInt16 = 443) throws(ToolError) -> ServerEndpoint {
        // A search for one byte is much faster than one for a string, and lists have millions of hosts.
        if text.utf8.contains(UInt8(ascii: "/")), text.contains("://") { return try endpoint(url: text) }
        if let endpoint = ServerEndpoint(text, defaultPort: defaultPort) { return endpoint }
        throw problem(ofAuthority: text)
    }

    private static func endpoint(url: String) throws(ToolError) -> ServerEndpoint {
        if let endpoint = ServerEndpoint(httpsURL: url) { return endpoint }
        guard url.prefix(8).lowercased() == "https://" else {
            throw .unusable(
                "invalid-url", "\"\(url)\" is not an https URL", hint: "write it as https://HOST[:PORT]/...")
        }
        let rest = url.dropFirst(8)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard rest.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") }) else {
            throw .unusable(
                "invalid-url", "\"\(url)\" has characters that programs read differently from one another",
                hint: "write blanks and other characters percent-encoded, and the host as A-labels (xn--...)")
        }
        guard !authority.contains("@") else {
            throw .unusable(
                "invalid-url", "the URL has user-info before the host", hint: "leave out what stands before @")
        }
        throw problem(ofAuthority: String(authority))
    }

    /// Returns the error for a text that is not `HOST[:PORT]`.
    private static func problem(ofAuthority text: String) -> ToolError {
        let isIPv6 = text.hasPrefix("[") || text.count(where: { $0 == ":" }) > 1
        let host =
            if let bracket = text.lastIndex(of: "]") {
                text[...bracket]
            } else if !isIPv6, let colon = text.lastIndex(of: ":") {
                text[..<colon]
            } else {
                text[...]
            }
        do {
            _ = try ServerName(host)
        } catch {
            return .unusable("invalid-host", error.description, hint: error.hint)
        }
        return .unusable(
            "invalid-port", "\"\(text)\" has no port from 1 to 65535", hint: "write HOST or HOST:PORT")
    }
}

extension ValueFormat<ServerEndpoint> {
    /// A host, host:port or https URL.
    static func server(_ placeholder: String) -> ValueFormat {
        .reading(placeholder) { text throws(ToolError) in try HostArgument.endpoint(text) }
    }
}

extension Invocation {
    /// Returns a validator whose roots are those of this machine, or of `--anchors`.
    func validator() throws(ToolError) -> PathValidator {
        guard let path = arguments[.anchors] else { return PathValidator() }
        return PathValidator(system: SystemAnchors(replacedBy: try certificates(in: path)))
    }

    /// Returns the certificates of a file that the command line names, PEM or DER. A certificate that breaks the
    /// standard is skipped with a warning, because it cannot be an anchor.
    func certificates(in path: String) throws(ToolError) -> [Certificate] {
        var file = try file(path)
        do {
            let (certificates, skipped) = try CertificateBundle.anchors(in: file.bytes)
            for problem in skipped {
                let place = problem.line.map { "\(file.name):\($0)" } ?? file.name
                console.warnOnce("\(place): skipped PEM block \(problem.block ?? 1): \(problem.message)")
            }
            return certificates
        } catch {
            // Bytes that are not a certificate may be a private key.
            KeyFile.wipe(&file.bytes)
            throw ToolError(error, file: file.name)
        }
    }

    /// The instant of the decision: `--at`, or now.
    var instant: Date { arguments[.instant] ?? now }
}

extension ToolError {
    /// Collects every part of a file of anchors that is not a certificate.
    fileprivate init(_ error: CertificateBundleError, file: String) {
        let errors = error.problems.map { problem in
            let block = problem.block.map { "PEM block \($0): " } ?? ""
            return ToolError.unusable(
                problem == .nothing ? "no-anchor" : "invalid-anchor", block + problem.message, file: file,
                line: problem.line, hint: problem.help)
        }
        self = .joining(errors) ?? .unusable("no-anchor", "no certificate in it", file: file)
    }
}
