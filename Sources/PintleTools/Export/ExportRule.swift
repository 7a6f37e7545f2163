internal import FoundationEssentials
internal import Pintle

/// A rule on its way into a foreign format: what is left of it there.
struct ExportRule {
    struct Entry: Hashable {
        let subject: Pin.Subject
        var position: PinPosition

        /// `nil` for a fingerprint.
        var key: PublicKeyPin? {
            if case .publicKey(let key) = subject { key } else { nil }
        }

        /// `nil` for a key.
        var fingerprint: CertificatePin? {
            if case .certificate(let pin) = subject { pin } else { nil }
        }
    }

    /// Where the rule stands in the policy.
    let index: Int
    /// The host, with the port where the rule has one.
    let name: String
    let host: ServerName
    var port: UInt16?
    var includesSubdomains: Bool
    /// Those in use, then the backups; no subject twice at one position.
    var pins: [Entry]
    var requires: PinRequirement
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
        pins = (host.pins + host.backupPins).map { Entry(subject: $0.subject, position: $0.position) }
        requires = host.requires
        expiry = host.expiry
        enforcement = host.enforcement
        anchors = host.anchors
        reportTo = host.reportTo
    }

    var isPinned: Bool { !pins.isEmpty }

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

    /// Nothing is pinned any more, so that nothing ends or is required either.
    mutating func unpin() {
        pins = []
        requires = .anyPin
        expiry = .never
        enforcement = .enforce
        reportTo = []
    }
}

extension PublicKeyPin {
    /// The base64 alone.
    var base64: String { String(description.dropFirst("sha256/".count)) }

    /// A pin that no key has: the SHA-256 of a sentence, which is no key. It stands where a format wants two pins and
    /// there is one, and is left out again when the file is read back.
    static let ofNoKey = PublicKeyPin(
        digest: CertificatePin(certificate: Array("pintle: the second pin, which no key has".utf8)).digest)
}

extension ExportRule {
    /// `example.com`, or an address as URLs have it.
    var urlHost: String { host.ipAddress?.isIPv6 == true ? "[\(host)]" : host.description }

    /// What makes rules share an entry, where a format lets them.
    var terms: Terms {
        Terms(pins: pins, expiry: expiry, anchors: anchors, enforcement: enforcement, reportTo: reportTo)
    }

    struct Terms: Hashable {
        let pins: [Entry]
        let expiry: PinExpiry
        let anchors: TrustAnchors
        let enforcement: Enforcement
        let reportTo: [String]
    }

    /// `2027-11-20`
    var expiryDay: String? { expiry.date.map(ValidityText.day) }
}

extension [ExportRule] {
    /// Rules that ask for the same, together, in the order of the first of each.
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

/// The line that files begin with.
enum ExportRemark {
    static let text = "Written by pintle export; edit the policy, not this file."
}

/// Which rules lie under which.
struct ExportRelations {
    private let rules: [ExportRule]
    private let places: [ServerName: Int]
    private let traits: FormatTraits

    init(_ rules: [ExportRule], _ traits: FormatTraits) {
        self.rules = rules
        self.traits = traits
        places = Dictionary(rules.enumerated().map { ($1.host, $0) }) { first, _ in first }
    }

    /// The rules with pins that would hold for the host if it had none of its own, nearest first.
    func parents(of rule: ExportRule) -> [ExportRule] {
        guard traits.subdomains != .none else { return [] }
        var labels = rule.host.labels[...]
        var found: [ExportRule] = []
        while labels.count > 1 {
            labels = labels.dropFirst()
            guard let name = try? ServerName(labels.joined(separator: ".")), let place = places[name] else { continue }
            let parent = rules[place]
            if parent.isPinned, parent.includesSubdomains { found.append(parent) }
            if traits.subdomains == .oneLabel { break }
        }
        return found
    }
}
