/// A format of pins that is not ours.
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

    /// What messages call it.
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

/// The language a format is written in, where there is a choice.
enum ForeignLanguage: String, CaseIterable, Sendable {
    case kotlin, java, swift, plist

    /// Those of a format, the default first; empty where there is no choice.
    static func choices(for format: ForeignFormat) -> [ForeignLanguage] {
        switch format {
        case .okhttp: [.kotlin, .java]
        case .trustkit: [.swift, .plist]
        default: []
        }
    }
}

/// What a format can say. From it follows what of a policy is lost: see `ExportPlan`.
struct FormatTraits: Sendable {
    enum Subdomains {
        case everyDepth, oneLabel, none
    }

    /// Where pins are looked for on a path.
    enum Positions {
        /// Anywhere, always.
        case anywhere
        /// In two lists, one for the leaf and one for what is above, both of which must match where both are there.
        case leafAndCA
        /// The leaf alone.
        case leaf
    }

    enum Expiry {
        case none
        /// A day that begins at midnight in UTC.
        case day
        /// A day that begins at midnight where the device is.
        case localDay
    }

    /// Whether a host can be taken out of its parent's pins.
    enum Exclusions {
        case none
        /// The host itself, not what lies under it.
        case hostAlone
        case full
    }

    enum Anchors {
        case none
        /// Private roots or the system's, not both.
        case either
        case both
    }

    var subdomains = Subdomains.everyDepth
    var positions = Positions.anywhere
    var expiry = Expiry.none
    var exclusions = Exclusions.none
    var anchors = Anchors.none
    var hasPorts = false
    var hasAddresses = true
    /// Whether names of one label can have rules.
    var hasLabels = true
    var hasCertificatePins = false
    var hasReportOnly = false
    /// How many addresses for reports a rule may have.
    var maximumReports = 0
    /// Whether a host's pins are those of every rule that covers it.
    var poolsRules = false
    /// Whether it is not defined which of two parents decides.
    var confusesParents = false
    /// Whether pins stop being enforced as the list grows old, and are passed over for roots that were installed.
    var lapses = false
    /// Fewer are refused.
    var minimumPins = 1
}

extension ForeignFormat {
    var traits: FormatTraits {
        switch self {
        case .ats:
            FormatTraits(subdomains: .oneLabel, positions: .leafAndCA, hasAddresses: false, hasLabels: false)
        case .nsc: FormatTraits(expiry: .localDay, exclusions: .full, anchors: .both)
        case .okhttp: FormatTraits(poolsRules: true)
        case .trustkit:
            FormatTraits(
                expiry: .day, exclusions: .hostAlone, hasAddresses: false, hasLabels: false, hasReportOnly: true,
                maximumReports: 16, confusesParents: true, minimumPins: 2)
        case .curl:
            FormatTraits(subdomains: .none, positions: .leaf, exclusions: .full, anchors: .either, hasPorts: true)
        case .envoy:
            FormatTraits(
                subdomains: .none, positions: .leaf, exclusions: .full, anchors: .either, hasPorts: true,
                hasCertificatePins: true)
        case .chromium: FormatTraits(hasAddresses: false, maximumReports: 1, lapses: true)
        }
    }
}
