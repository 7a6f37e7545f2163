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

extension ExportPlan {
    /// Returns the files of the format: first the main file, then certificates.
    func files(_ settings: ExportSettings) -> [ExportedFile] {
        let language = settings.language ?? ForeignLanguage.choices(for: format).first
        return switch format {
        case .ats: [ATSExport.file(rules)]
        case .nsc: NSCExport.files(rules, debugRoots: settings.debugRoots)
        case .okhttp: [language == .java ? OkHttpExport.java(rules) : OkHttpExport.kotlin(rules)]
        case .trustkit: [language == .plist ? TrustKitExport.propertyList(rules) : TrustKitExport.swift(rules)]
        case .curl: CurlExport.files(rules)
        case .envoy: [EnvoyExport.file(rules)]
        }
    }
}
