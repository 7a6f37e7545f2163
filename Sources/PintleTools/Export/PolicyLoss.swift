/// Something that one side says and the other cannot, and what becomes of it.
struct PolicyLoss: Sendable, Hashable {
    enum Effect: String, Sendable, CaseIterable {
        /// Servers that were refused may be accepted.
        case weaker
        /// Servers that were accepted may be refused.
        case stricter
        /// What is accepted stays the same.
        case other
    }

    /// What it is about. Stable: scripts compare them, and the article "Exports" explains each.
    enum Kind: String, Sendable, CaseIterable {
        case address
        case anchors
        case backups
        case badPins = "bad-pins"
        case certificatePins = "certificate-pins"
        case certificateTransparency = "certificate-transparency"
        case cleartext
        case debugOverrides = "debug-overrides"
        case exclusion
        case expiry
        case expiryTime = "expiry-time"
        case httpsOnly = "https-only"
        case issuerKey = "issuer-key"
        case listAge = "list-age"
        case listMetadata = "list-metadata"
        case overlap
        case overridePins = "override-pins"
        case pathLength = "path-length"
        case pooling
        case port
        case portRule = "port-rule"
        case position
        case reportOnly = "report-only"
        case reports
        case requires
        case stapling
        case subdomains
        case tooFewPins = "too-few-pins"
        case unpinnedHosts = "unpinned-hosts"
        case updates
        case userAnchors = "user-anchors"
        case validation
    }

    let kind: Kind
    let effect: Effect
    /// One sentence, lower case, no full stop; the same for all of ``hosts``.
    let message: String
    /// The rules it is about, in the order of the policy; empty where it is the policy as a whole.
    fileprivate(set) var hosts: [String]
}

/// Losses in the order in which they were found, each told once however many rules it is about.
struct LossList: Sendable {
    private struct Key: Hashable {
        let kind: PolicyLoss.Kind
        let effect: PolicyLoss.Effect
        let message: String
    }

    private(set) var losses: [PolicyLoss] = []
    private var places: [Key: Int] = [:]

    /// - Parameter host: the rule, as `PinnedHost.description` has it; `nil` for the policy as a whole.
    mutating func add(_ kind: PolicyLoss.Kind, _ effect: PolicyLoss.Effect, _ message: String, _ host: String? = nil) {
        let key = Key(kind: kind, effect: effect, message: message)
        if let place = places[key] {
            // The rules come one after the other, so that a rule named twice is named last.
            if let host, losses[place].hosts.last != host { losses[place].hosts.append(host) }
            return
        }
        places[key] = losses.count
        losses.append(PolicyLoss(kind: kind, effect: effect, message: message, hosts: host.map { [$0] } ?? []))
    }

    /// The weaker ones first.
    var sorted: [PolicyLoss] {
        PolicyLoss.Effect.allCases.flatMap { effect in losses.filter { $0.effect == effect } }
    }

    func count(_ effect: PolicyLoss.Effect) -> Int { losses.count { $0.effect == effect } }
}
