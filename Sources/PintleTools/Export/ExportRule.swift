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
