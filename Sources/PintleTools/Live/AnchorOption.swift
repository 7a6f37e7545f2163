internal import FoundationEssentials
internal import Pintle
internal import PintleOpenSSL

extension Invocation {
    /// A validator whose system's roots are this machine's, or those of `--anchors`.
    func validator() throws(ToolError) -> PathValidator {
        guard let path = arguments.value(of: .anchors) else { return PathValidator() }
        return PathValidator(system: SystemAnchors(replacedBy: try certificates(in: path)))
    }

    /// All certificates of a file that the command line names, PEM or DER.
    func certificates(in path: String) throws(ToolError) -> [Certificate] {
        var file = try file(path)
        do {
            return try CertificateBundle(file.bytes).certificates
        } catch {
            // What is no certificate may be a private key.
            KeyFile.wipe(&file.bytes)
            throw ToolError(error, file: file.name)
        }
    }

    /// The instant to decide at: `--at`, else now.
    func instant() throws(ToolError) -> Date {
        guard let text = arguments.value(of: .instant) else { return now }
        return try date(text, of: .instant)
    }

    /// The value of an option that is an instant.
    func date(_ text: String, of option: OptionSpecification) throws(ToolError) -> Date {
        do {
            return try RFC3339.date(from: text)
        } catch {
            throw .unusable("invalid-date", "--\(option.name): \"\(text)\" is \(error.message)", hint: error.hint)
        }
    }
}

extension ToolError {
    /// All that is no certificate in a file of anchors.
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
