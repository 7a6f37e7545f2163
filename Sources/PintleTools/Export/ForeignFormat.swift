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
        case .okhttp, .trustkit, .curl, .envoy, .chromium: nil
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

    enum Anchors {
        case none
        /// Private roots or the system's, but not both.
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
    /// A Boolean value that indicates whether names of one label can have rules.
    var hasLabels = true
    var hasCertificatePins = false
    var hasReportOnly = false
    /// The number of report addresses that a rule may have.
    var maximumReports = 0
    /// A Boolean value that indicates whether a host has the pins of every rule that covers it.
    var poolsRules = false
    /// A Boolean value that indicates whether it is undefined which of two parents decides.
    var confusesParents = false
    /// A Boolean value that indicates whether pins are not enforced once the list is old, and never for roots that were
    /// installed locally.
    var lapses = false
    /// The fewest pins that are accepted.
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
