internal import PintleConsole
internal import PintleStorage

/// A file of an export.
struct ExportedFile {
    /// The path relative to the folder that is exported to, with `/`.
    let name: String
    let content: String
}

/// The input of the writers beside the rules.
struct ExportSettings {
    var language: ForeignLanguage?
    /// Certificates in PEM that debug builds trust too, without pins.
    var debugRoots: [String] = []
}

extension ForeignFormat {
    /// Checks that an export may replace what has a name: an empty file, or one that an export wrote. A pipe or device
    /// is only written to.
    func checkPlace(_ path: String, hint: String) throws(ToolError) {
        guard OutputFile.isRegular(path) else { return }
        do throws(FileError) {
            let bytes = try RegularFile.content(path, limit: 16 << 20)
            if bytes.isEmpty || isOwn(bytes) { return }
        } catch {
            // No export is that large.
            guard error.id == "too-large" else {
                throw .unusable(error.id, error.message, file: path, hint: error.help)
            }
        }
        throw .unusable(
            "foreign-file", "the file was not written by pintle export, which would replace all of it", file: path,
            hint: hint)
    }

    private func isOwn(_ bytes: [UInt8]) -> Bool {
        // JSON has no comment to say who wrote it.
        if self == .envoy { return EnvoyExport.isShaped(String(decoding: bytes, as: UTF8.self)) }
        let head = String(decoding: bytes.prefix(1_024), as: UTF8.self)
        return head.split(separator: "\n").prefix(3).contains { line in
            line.indices.contains { line[$0...].hasPrefix(ExportRemark.text) }
        }
    }
}
