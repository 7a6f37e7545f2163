package import Pintle
package import PintleConsole

extension Invocation {
    /// Returns the certificates of a file that the command line names, PEM or DER. A certificate that breaks the
    /// standard is skipped with a warning, because it cannot be an anchor.
    package func certificates(in path: String) throws(ToolError) -> [Certificate] {
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
            SecretBytes.wipe(&file.bytes)
            throw ToolError(error, file: file.name)
        }
    }
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
