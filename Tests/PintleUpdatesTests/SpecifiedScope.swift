import FoundationEssentials
import Pintle

/// The rules U29 and U32 to U39 of `Specification/update.md`, word by word and for each endpoint by itself, where
/// `UpdateScope` walks the tree of names once.
struct SpecifiedScope {
    let bundled: JudgedPolicy
    let update: JudgedPolicy
    let endpoints: [ServerEndpoint]

    var isExceeded: Bool {
        // U29
        update.policy.unpinnedHosts != bundled.policy.unpinnedHosts || endpoints.indices.contains(where: isViolated)
    }

    private func isViolated(at endpoint: Int) -> Bool {
        let (oldPlace, newPlace) = (bundled.deciding[endpoint], update.deciding[endpoint])
        let new = newPlace.flatMap { update.rules[$0] }?.rule
        let unpinned = bundled.policy.unpinnedHosts
        guard let oldPlace, let old = bundled.rules[oldPlace]?.rule else {  // U35
            guard let new else { return false }
            let allowsAnyHost = bundled.policy.allowsUpdatesForAnyHost
            return !allowsAnyHost || isWider(new.anchors, than: .system)
                || allowsAnyHost && unpinned != .systemTrust && new.withdrawalReason == nil && Open(new) != .never
        }
        if let new, newPlace == oldPlace { return isWider(new.anchors, than: old.anchors) || loosens(new, old) }  // U36
        guard let same = update.rules[oldPlace]?.rule else { return false }  // U37
        guard !same.includesSubdomains, endpoints[endpoint].host != old.host,
            new.map({ !"\($0.host)".hasSuffix(".\(old.host)") }) ?? true
        else {
            return new.map { isWider($0.anchors, than: old.anchors) || loosens($0, old) } ?? true  // U39
        }
        // U38
        if new == nil, unpinned == .reject { return false }
        if new == nil, unpinned == .askUser { return true }
        if isWider(new?.anchors ?? .system, than: old.anchors) || lowersTerms(new, old) { return true }
        if same.withdrawalReason == nil, Open(old) != .always || new == nil { return true }
        guard let new else { return false }
        return loosens(new, old) && newPlace.flatMap { bundled.rules[$0] }?.rule.includesSubdomains != true
    }

    private enum Open: Equatable {
        case always, never
        case before(Date)
        case from(Date)

        init(_ rule: PinnedHost) {  // U32
            self =
                switch (rule.enforcement, rule.expiry) {
                case _ where rule.pins.isEmpty: .always
                case (.enforce, .systemTrust(let date)): .from(date)
                case (.enforce, _): .never
                case (.reportOnly, .rejecting(let date)): .before(date)
                case (.reportOnly, _): .always
                }
        }

        func isWithin(_ other: Open) -> Bool {
            switch (self, other) {
            case (.never, _), (_, .always): true
            case (.before(let date), .before(let later)): date <= later
            case (.from(let date), .from(let earlier)): date >= earlier
            default: false
            }
        }
    }

    private func loosens(_ rule: PinnedHost, _ other: PinnedHost) -> Bool {  // U33
        if lowersTerms(rule, other) { return true }
        if rule.withdrawalReason != nil { return false }
        return !Open(rule).isWithin(Open(other))
            || other.enforcement == .enforce && other.requires == .leafAndCA && rule.requires == .anyPin
    }

    private func lowersTerms(_ rule: PinnedHost?, _ other: PinnedHost) -> Bool {
        rule?.minimumPathLength ?? 1 < other.minimumPathLength ?? 1 || rule?.issuerKey == nil && other.issuerKey != nil
    }

    private func isWider(_ anchors: TrustAnchors, than other: TrustAnchors) -> Bool {  // U34
        anchors.includesSystem && !other.includesSystem
            || anchors.certificates.contains { !other.certificates.contains($0) }
    }
}
