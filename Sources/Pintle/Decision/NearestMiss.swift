/// The most likely reason why no pin matched. It is advice for people and never affects the verdict.
package enum NearestMiss: Sendable, Hashable {
    /// The server sent a pinned certificate, but it is not on the validated path.
    case pinnedCertificateNotOnPath(Pin)
    /// A pinned key or certificate is on the path, but at a position that the pin does not allow.
    case otherPosition(Pin, depth: Int)
    /// A pin is the hash of a certificate on the path, and should be the hash of its key.
    case certificateAsKey(PublicKeyPin, depth: Int, key: PublicKeyPin)
    /// Another rule pins the key that the server presented.
    case otherRule(PublicKeyPin, rule: MatchedRule)
    /// A configured and a served pin differ only in upper and lower case or in one character, probably a typing error.
    case misspelt(configured: PublicKeyPin, served: PublicKeyPin)
    /// The rule requires a match for the leaf and one for a CA, and only this one was found.
    case onlyOneOfTwo(PinMatch)
    /// No pin comes close to a match.
    case nothingInCommon
}

extension NearestMiss: CustomStringConvertible {
    /// The reason for people, on one line.
    package var description: String {
        switch self {
        case .pinnedCertificateNotOnPath(let pin):
            "\(pin) was sent by the server, but the validated path does not run through it"
        case .otherPosition(let pin, let depth):
            "\(pin) is on the path at depth \(depth), but the rule wants it at \"\(pin.position.rawValue)\""
        case .certificateAsKey(let pin, let depth, let key):
            "\(pin) is the hash of the certificate at depth \(depth), not of its key, which is \(key)"
        case .otherRule(let pin, let rule):
            "\(pin) is pinned by the rule for \(rule.pattern)"
        case .misspelt(let configured, let served):
            "\(configured) is the served \(served) with a typing error"
        case .onlyOneOfTwo(let match):
            "\(match.pin) matched at depth \(match.depth); the rule wants a leaf and a ca"
        case .nothingInCommon:
            "nothing in common"
        }
    }
}

extension NearestMiss {
    /// Returns the first reason that applies. The search runs inside the handshake and takes time linear in the size of
    /// the policy: about a millisecond for 20,000 rules.
    static func find(
        _ rule: PinnedHost, path: ValidatedPath, presented: PresentedChain?, in policy: PinningPolicy
    ) -> NearestMiss {
        let configured = rule.pins + rule.backupPins
        let onPath = Set(path.certificates)
        for certificate in presented?.certificates ?? [] where !onPath.contains(certificate.der) {
            let hashes = CertificateHashes(key: certificate.publicKeyPin, certificate: certificate.fingerprint)
            if let pin = configured.first(where: hashes.matches) {
                return .pinnedCertificateNotOnPath(pin)
            }
        }
        for depth in 0..<path.count {
            let hashes = CertificateHashes(key: path.publicKeyPin(at: depth), certificate: path.fingerprint(at: depth))
            let pins = configured.filter(hashes.matches)
            guard let pin = pins.first(where: { $0.position.covers(depth: depth) }) ?? pins.first else { continue }
            guard pin.position.covers(depth: depth) else { return .otherPosition(pin, depth: depth) }
            return .onlyOneOfTwo(PinMatch(pin: pin, depth: depth, isBackup: rule.backupPins.contains(pin)))
        }
        for depth in 0..<path.count {
            guard let key = path.publicKeyPin(at: depth), let digest = path.fingerprint(at: depth)?.digest else {
                continue
            }
            let pin = PublicKeyPin(digest: digest)
            if configured.contains(where: { $0.key == pin }) {
                return .certificateAsKey(pin, depth: depth, key: key)
            }
        }
        let served = path.publicKeyPins
        if let other = policy.rule(pinning: served) { return other }
        for case .publicKey(let pin) in configured.map(\.subject) {
            if let twin = served.first(where: { $0.looksLike(pin) }) {
                return .misspelt(configured: pin, served: twin)
            }
        }
        return .nothingInCommon
    }
}

extension PublicKeyPin {
    fileprivate func looksLike(_ other: PublicKeyPin) -> Bool {
        let (mine, theirs) = (description, other.description)
        if mine.lowercased() == theirs.lowercased() { return true }
        return zip(mine.utf8, theirs.utf8).count { $0 != $1 } <= 1
    }
}

extension PinningPolicy {
    /// Returns the first rule that pins one of these keys. It is another rule than the one that decided, because none
    /// of that rule's pins is on the path.
    fileprivate func rule(pinning served: [PublicKeyPin]) -> NearestMiss? {
        func firstKey(of pins: [Pin]) -> PublicKeyPin? { pins.lazy.compactMap(\.key).first(where: served.contains) }
        for index in hosts.indices {
            guard let pin = firstKey(of: hosts[index].pins) ?? firstKey(of: hosts[index].backupPins) else { continue }
            let (host, port) = (hosts[index].host, hosts[index].port)
            return .otherRule(pin, rule: MatchedRule(index: index, host: host, port: port, isExact: false))
        }
        return nil
    }
}
