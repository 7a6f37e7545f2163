internal import FoundationEssentials
internal import Pintle
internal import PintleOpenSSL

extension Invocation {
    /// A validator whose system's roots are this machine's, or those of `--anchors`.
    func validator() throws(ToolError) -> PathValidator {
        guard let path = arguments.value(of: .anchors) else { return PathValidator() }
        var file = try file(path)
        let certificates = try SourceReader.items(in: &file).map { item throws(ToolError) in
            guard let certificate = item.certificate else {
                throw ToolError.unusable(
                    "no-anchor", "something else than a certificate is in it", file: file.name,
                    hint: "keep only certificates in the file")
            }
            return certificate
        }
        return PathValidator(system: SystemAnchors(replacedBy: certificates))
    }

    /// The instant to decide at: `--at`, else now.
    func instant() throws(ToolError) -> Date {
        guard let text = arguments.value(of: .instant) else { return now }
        do {
            return try RFC3339.date(from: text)
        } catch {
            throw .unusable("invalid-date", "--at: \"\(text)\" is \(error.message)", hint: error.hint)
        }
    }
}
