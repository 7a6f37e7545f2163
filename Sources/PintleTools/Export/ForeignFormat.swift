/// A format of pins on another platform.
enum ForeignFormat: String, CaseIterable, Sendable {
    /// `NSPinnedDomains` of App Transport Security, a property list.
    case ats
    /// Android's network security configuration, XML.
    case nsc
    /// OkHttp's `CertificatePinner`, Kotlin or Java.
    case okhttp
    /// TrustKit's configuration, Swift or a property list.
    case trustkit
    /// `--pinnedpubkey`, a command a host.
    case curl
    /// Clusters with a validation context, JSON.
    case envoy
    /// The static pin list, JSON with comments and a file of named keys.
    case chromium

    /// The name in messages.
    var title: String {
        switch self {
        case .ats: "App Transport Security"
        case .nsc: "Android's network security configuration"
        case .okhttp: "OkHttp"
        case .trustkit: "TrustKit"
        case .curl: "curl"
        case .envoy: "Envoy"
        case .chromium: "Chromium's list"
        }
    }
}

/// The language of a format that has several.
enum ForeignLanguage: String, CaseIterable, Sendable {
    case kotlin, java, swift, plist

    /// Returns the languages of a format, the default first; empty if it has only one.
    static func choices(for format: ForeignFormat) -> [ForeignLanguage] {
        switch format {
        case .okhttp: [.kotlin, .java]
        case .trustkit: [.swift, .plist]
        default: []
        }
    }
}
