internal import Pintle

/// Something that one side can say and the other cannot, with its effect.
struct PolicyLoss: Sendable, Hashable {
    enum Effect: String, Sendable, CaseIterable {
        /// Servers that were refused may be accepted.
        case weaker
        /// Servers that were accepted may be refused.
        case stricter
        /// The same servers are accepted.
        case other
    }

    /// The subject of the loss. Stable: scripts compare it, and the article "Exports" explains each.
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
    /// The rules concerned, in the order of the policy; empty if the whole policy is.
    fileprivate(set) var hosts: [String]
}

/// Losses in the order in which they were found. Each appears once, with all rules concerned.
struct LossList: Sendable {
    private struct Key: Hashable {
        let kind: PolicyLoss.Kind
        let effect: PolicyLoss.Effect
        let message: String
    }

    private(set) var losses: [PolicyLoss] = []
    private var places: [Key: Int] = [:]

    /// - Parameter host: the rule, as in `PinnedHost.description`; `nil` for the whole policy.
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

    /// The losses with those that weaken first.
    var sorted: [PolicyLoss] {
        PolicyLoss.Effect.allCases.flatMap { effect in losses.filter { $0.effect == effect } }
    }

    func count(_ effect: PolicyLoss.Effect) -> Int { losses.count { $0.effect == effect } }
}
