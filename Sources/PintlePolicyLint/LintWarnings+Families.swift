internal import Pintle
internal import PintleText

/// Warnings about keys of public authorities, which issue from several roots and exchange their intermediates.
extension LintWarnings {
    mutating func lookAtFamilies(of host: PinnedHost, _ index: Int, _ families: AuthorityFamilies) {
        lookForEndedKeys(in: host, index, families)
        // If only private anchors count, the roots of public authorities have no effect.
        guard host.anchors.includesSystem, !host.pins.isEmpty else { return }
        var pinned: Set<PublicKeyPin> = []
        var found: [(id: String, list: String, position: Int)] = []
        for (list, pins) in [("pins", host.pins), ("backupPins", host.backupPins)] {
            for (position, pin) in pins.enumerated() where pin.position != .leaf {
                guard let key = pin.key else { continue }
                pinned.insert(key)
                if let family = families.family(ofRoot: key), !found.contains(where: { $0.id == family.id }) {
                    found.append((family.id, list, position))
                }
            }
        }
        for (id, list, position) in found {
            guard let family = families.families.first(where: { $0.id == id }) else { continue }
            let others = family.roots.filter { root in root.pin.map { !pinned.contains($0) } ?? false }.map(\.name)
            guard !others.isEmpty else { continue }
            warn(
                "family-incomplete", .rule(index)[list][position],
                "\(host) pins a root of \(family.name), which also issues from " + TextLayout.list(others, width: 80),
                help: "add its other roots to the rule: pintle pin --authority \(family.id)")
        }
        lookForIntermediates(of: host, index, families, found.map(\.id))
        if host.enforcement == .enforce, let family = families.onlyFamily(of: host) {
            warn(
                "single-authority", .rule(index)["pins"],
                "\(host) accepts nothing but \(family.name): nothing is left if that authority is distrusted",
                help: "add a key of your own, or the roots of a second authority")
        }
    }

    /// Warns of keys of authorities that no valid certificate has any more.
    private mutating func lookForEndedKeys(in host: PinnedHost, _ index: Int, _ families: AuthorityFamilies) {
        let pins = host.pins + host.backupPins
        let isHopeless =
            !pins.isEmpty && pins.allSatisfy { $0.key.flatMap { families.endedKey($0, at: lint.now) } != nil }
        let effect =
            isHopeless && host.enforcement == .enforce
            ? "so every server is refused" : "so no server has a certificate from it"
        func warn(_ key: PublicKeyPin, _ place: PolicyPath) {
            guard let ended = families.endedKey(key, at: lint.now) else { return }
            let name = ended.key.name.contains(ended.family.name) ? "" : " (\(ended.family.name))"
            self.warn(
                "retired-key", place,
                "\(host) pins \(ended.key.name)\(name), which ended \(ValidityText.day(ended.end)), \(effect)",
                help: "pin the roots that are in use: pintle pin --authority \(ended.family.id)")
        }
        for (list, pins) in [("pins", host.pins), ("backupPins", host.backupPins)] {
            for (position, pin) in pins.enumerated() {
                if let key = pin.key { warn(key, .rule(index)[list][position]) }
            }
        }
        if let issuer = host.issuerKey { warn(issuer, .rule(index)["issuerKey"]) }
    }

    /// - Parameter complete: the ids of the families that have a root among the pins.
    private mutating func lookForIntermediates(
        of host: PinnedHost, _ index: Int, _ families: AuthorityFamilies, _ complete: [String]
    ) {
        for (list, pins) in [("pins", host.pins), ("backupPins", host.backupPins)] {
            for (position, pin) in pins.enumerated() where pin.position != .leaf {
                guard let key = pin.key, let family = families.family(ofIntermediate: key),
                    !family.rotation.isEmpty, !complete.contains(family.id)
                else { continue }
                warn(
                    "fragile-pin", .rule(index)[list][position],
                    "\(host) pins an intermediate of \(family.name), which exchanges its intermediates",
                    help: "pin its roots instead: pintle pin --authority \(family.id)")
            }
        }
    }
}
