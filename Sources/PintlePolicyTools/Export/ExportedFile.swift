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
