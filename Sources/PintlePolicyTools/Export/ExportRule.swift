internal import Pintle
internal import PintleConsole
internal import PintleText

/// A rule as far as a foreign format can express it.
struct ExportRule {
    /// The index of the rule in the policy.
    let index: Int
    /// The host, with the port if the rule has one.
    let name: String
    let host: ServerName
    var port: UInt16?
    var includesSubdomains: Bool
    /// The pins in use, then the backups; no subject twice at one position.
    var pins: [Pin]
    var requires: PinRequirement
    /// A Boolean value that indicates whether one pin is enough in the policy, where the format wants one in each list.
    var isTightened = false
    var expiry: PinExpiry
    var enforcement: Enforcement
    var anchors: TrustAnchors
    var reportTo: [String]

    init(_ host: PinnedHost, index: Int) {
        self.index = index
        name = host.description
        self.host = host.host
        port = host.port
        includesSubdomains = host.includesSubdomains
        pins = host.pins + host.backupPins
        requires = host.requires
        expiry = host.expiry
        enforcement = host.enforcement
        anchors = host.anchors
        reportTo = host.reportTo
    }

    var isPinned: Bool { !pins.isEmpty }

    /// A Boolean value that indicates whether the rule refuses a server that the system trusts.
    var refuses: Bool {
        let expires = if case .rejecting = expiry { true } else { false }
        return isPinned && (enforcement == .enforce || expires) || !anchors.includesSystem
    }

    /// The keys, each once.
    var keys: [PublicKeyPin] { Self.unique(pins.compactMap(\.key)) }
    var fingerprints: [CertificatePin] { Self.unique(pins.compactMap(\.fingerprint)) }

    func keys(at position: PinPosition) -> [PublicKeyPin] {
        Self.unique(pins.filter { $0.position == position }.compactMap(\.key))
    }

    private static func unique<Value: Hashable>(_ values: [Value]) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { seen.insert($0).inserted }
    }

    /// Removes the pins, and with them their end and their terms.
    mutating func unpin() {
        pins = []
        requires = .anyPin
        expiry = .never
        enforcement = .enforce
        reportTo = []
    }
}

extension PublicKeyPin {
    /// The base64 without a prefix.
    package var base64: String { String(description.dropFirst("sha256/".count)) }

    /// The form that curl's `--pinnedpubkey` takes.
    package var curl: String { "sha256//\(base64)" }

    /// A pin that no key has: the SHA-256 of a sentence. It is the second pin if a format wants two and there is one,
    /// and the import leaves it out again.
    static let ofNoKey = PublicKeyPin(
        digest: CertificatePin(certificate: Array("pintle: the second pin, which no key has".utf8)).digest)
}

extension ExportRule {
    /// `example.com`, or an address as URLs have it.
    var urlHost: String { host.ipAddress?.isIPv6 == true ? "[\(host)]" : host.description }

    /// The terms that rules in one entry have in common, for a format that allows such entries.
    var terms: Terms {
        Terms(pins: pins, expiry: expiry, anchors: anchors, enforcement: enforcement, reportTo: reportTo)
    }

    struct Terms: Hashable {
        let pins: [Pin]
        let expiry: PinExpiry
        let anchors: TrustAnchors
        let enforcement: Enforcement
        let reportTo: [String]
    }

    /// `2027-11-20`
    var expiryDay: String? { expiry.date.map(ValidityText.day) }
}

extension [ExportRule] {
    /// Groups of rules with the same terms, in the order of the first of each.
    var grouped: [[ExportRule]] {
        var places: [ExportRule.Terms: Int] = [:]
        var groups: [[ExportRule]] = []
        for rule in self {
            if let place = places[rule.terms] {
                groups[place].append(rule)
            } else {
                places[rule.terms] = groups.count
                groups.append([rule])
            }
        }
        return groups
    }
}

/// The first line of files.
enum ExportRemark {
    static let text = "Written by pintle export; edit the policy, not this file."
}
