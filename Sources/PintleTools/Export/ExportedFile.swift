/// A file of an export.
struct ExportedFile {
    /// Relative to the folder that is exported to, with `/`.
    let name: String
    let content: String
}

/// What the writers take beside the rules.
struct ExportSettings {
    var language: ForeignLanguage?
    /// PEM: certificates that debug builds trust too, and that skip the pins there.
    var debugRoots: [String] = []
    /// Seconds since 1970, for formats that carry the time of writing.
    var writtenAt = 0
}

extension ExportPlan {
    /// The files of the format: the first is the one that matters, certificates follow.
    func files(_ settings: ExportSettings) -> [ExportedFile] {
        let language = settings.language ?? ForeignLanguage.choices(for: format).first
        return switch format {
        case .ats: [ATSExport.file(rules)]
        case .nsc: NSCExport.files(rules, debugRoots: settings.debugRoots)
        case .okhttp: [language == .java ? OkHttpExport.java(rules) : OkHttpExport.kotlin(rules)]
        case .trustkit: [language == .plist ? TrustKitExport.propertyList(rules) : TrustKitExport.swift(rules)]
        case .curl: CurlExport.files(rules)
        case .envoy: [EnvoyExport.file(rules)]
        case .chromium: ChromiumExport.files(rules, writtenAt: settings.writtenAt)
        }
    }
}
