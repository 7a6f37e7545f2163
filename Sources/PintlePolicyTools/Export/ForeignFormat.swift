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

    /// The formats that import reads. Source code and commands are not read: most of their pins are not literals.
    static let imported: [ForeignFormat] = [.ats, .nsc, .trustkit]

    /// The name in messages.
    var title: String {
        switch self {
        case .ats: "App Transport Security"
        case .nsc: "Android's network security configuration"
        case .okhttp: "OkHttp"
        case .trustkit: "TrustKit"
        case .curl: "curl"
        case .envoy: "Envoy"
        }
    }
}

extension ForeignFormat {
    /// The reach of a file that is for the whole process: the stacks that do not read it, and those that do beside
    /// their own pins; `nil` for formats that are for one client. The article "Not Swift, or not your session?" has
    /// them too.
    var reach: String? {
        let own = "each needs pins of its own"
        return switch self {
        case .ats:
            "it does not reach web views, Network.framework, SwiftNIO, gRPC over C++, Flutter and WebRTC: \(own); it "
                + "does reach pinned sessions, so a new key must be in it before an update brings that key"
        case .nsc:
            "it does not reach Swift's URLSession on Android, Flutter, Cronet's own TLS, gRPC over C++ and WebRTC: "
                + own
        case .okhttp, .trustkit, .curl, .envoy: nil
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

/// The features of a format. `ExportPlan` derives the losses from them.
struct FormatTraits: Sendable {
    enum Subdomains {
        case everyDepth, oneLabel, none
    }

    /// The places on a path where pins are looked for.
    enum Positions {
        /// Any place.
        case anywhere
        /// Two lists, one for the leaf and one for the authorities. If both have pins, both must match.
        case leafAndCA
        /// Only the leaf.
        case leaf
    }

    enum Expiry {
        case none
        /// A day that begins at midnight in UTC.
        case day
        /// A day that begins at midnight in the device's time zone.
        case localDay
    }

    /// The hosts that can be excluded from their parent's pins.
    enum Exclusions {
        case none
        /// The host itself, without its sub-domains.
        case hostAlone
        case full
    }

    /// The pins of a parent domain that also count for a host with a rule of its own.
    enum Pooling {
        case none
        /// The pins of every rule that covers the host join those of the host. One of them is enough.
        case pins
        /// The lists of the rule one label above join the lists of the host. Each list must match.
        case lists
    }

    enum Anchors {
        case none
        /// Private roots or the system's, but not both.
        case either
        case both
    }

    var subdomains = Subdomains.everyDepth
    var positions = Positions.anywhere
    var expiry = Expiry.none
    var pooling = Pooling.none
    var exclusions = Exclusions.none
    var anchors = Anchors.none
    var hasPorts = false
    var hasAddresses = true
    /// A Boolean value that indicates whether names of one label can have rules.
    var hasLabels = true
    var hasCertificatePins = false
    var hasReportOnly = false
    /// The number of report addresses that a rule may have.
    var maximumReports = 0
    /// The fewest pins that an enforced rule may have.
    var minimumPins = 1
    /// The longest name that may have sub-domains.
    var longestParent = 253
    /// A Boolean value that indicates whether only names under a top-level domain that TrustKit knows can have rules.
    var hasOnlyRegisteredNames = false
    /// A Boolean value that indicates whether the target refuses a file without pinned hosts.
    var refusesNoRules = false
}

extension ForeignFormat {
    var traits: FormatTraits {
        switch self {
        case .ats:
            FormatTraits(
                subdomains: .oneLabel, positions: .leafAndCA, pooling: .lists, hasAddresses: false, hasLabels: false)
        case .nsc: FormatTraits(expiry: .localDay, exclusions: .full, anchors: .both)
        case .okhttp: FormatTraits(pooling: .pins, longestParent: 250)
        case .trustkit:
            FormatTraits(
                expiry: .day, exclusions: .hostAlone, hasAddresses: false, hasLabels: false, hasReportOnly: true,
                maximumReports: 16, minimumPins: 2, hasOnlyRegisteredNames: true, refusesNoRules: true)
        case .curl:
            FormatTraits(subdomains: .none, positions: .leaf, exclusions: .full, anchors: .either, hasPorts: true)
        case .envoy:
            FormatTraits(
                subdomains: .none, positions: .leaf, exclusions: .full, anchors: .either, hasPorts: true,
                hasCertificatePins: true)
        }
    }
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
