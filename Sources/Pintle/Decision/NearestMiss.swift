/// The likeliest reason why a pin did not match, to point at first. Advice, never part of the verdict.
public enum NearestMiss: Sendable, Hashable {
    /// The server sent a certificate that is pinned, but the validated path does not run through it.
    case pinnedCertificateNotOnPath(Pin)
    /// A pinned key is on the path, but at another position than the pin asks for.
    case otherPosition(Pin, depth: Int)
    /// The served key is pinned by another rule.
    case otherRule(PublicKeyPin, rule: MatchedRule)
    /// The two differ in the case of letters or in one character: a slip of the pen.
    case misspelt(configured: PublicKeyPin, served: PublicKeyPin)
    /// One of the two kinds that the rule requires matched, and the other did not.
    case onlyOneOfTwo(PinMatch)
    /// No pin is near to a match.
    case nothingInCommon
}

extension NearestMiss: CustomStringConvertible {
    /// The near miss, for people, in one line.
    public var description: String {
        switch self {
        case .pinnedCertificateNotOnPath(let pin):
            "\(pin) was sent by the server, but the validated path does not run through it"
        case .otherPosition(let pin, let depth):
            "\(pin) is on the path at depth \(depth), but the rule wants it at \"\(pin.position.rawValue)\""
        case .otherRule(let pin, let rule):
            "\(pin) is pinned by the rule for \(rule.pattern)"
        case .misspelt(let configured, let served):
            "\(configured) differs from the served \(served) like a slip of the pen"
        case .onlyOneOfTwo(let match):
            "\(match.pin) matched at depth \(match.depth); the rule wants a leaf and a ca"
        case .nothingInCommon:
            "nothing in common"
        }
    }
}

extension NearestMiss {
    /// Looks for the first reason that is true. Linear in the terms of the policy: mismatches are rare.
    static func find(
        _ terms: HostTerms, path: ValidatedPath, presented: PresentedChain?, rule: MatchedRule,
        in policy: PinningPolicy
    ) -> NearestMiss {
        let configured = terms.pins + terms.backupPins
        let onPath = Set(path.certificates)
        for certificate in presented?.certificates ?? [] where !onPath.contains(certificate.der) {
            let hashes = CertificateHashes(certificate.der)
            if let pin = configured.first(where: hashes.areMeant(by:)) {
                return .pinnedCertificateNotOnPath(pin)
            }
        }
        for (depth, der) in path.certificates.enumerated() {
            let pins = configured.filter(CertificateHashes(der).areMeant(by:))
            guard let pin = pins.first(where: { $0.position.covers(depth: depth) }) ?? pins.first else { continue }
            guard pin.position.covers(depth: depth) else { return .otherPosition(pin, depth: depth) }
            return .onlyOneOfTwo(PinMatch(pin: pin, depth: depth, isBackup: terms.backupPins.contains(pin)))
        }
        let served = path.publicKeyPins
        if let other = policy.otherRule(pinning: Set(served), than: rule) { return other }
        for case .publicKey(let pin) in configured.map(\.subject) {
            if let twin = served.first(where: { $0.looksLike(pin) }) {
                return .misspelt(configured: pin, served: twin)
            }
        }
        return .nothingInCommon
    }
}

/// What a certificate can be pinned by, hashed once: whoever presents a chain must not make each pin
/// cost a pass over all of it.
private struct CertificateHashes {
    let key: PublicKeyPin?
    let certificate: CertificatePin

    init(_ der: [UInt8]) {
        key = PublicKeyPin(sliceOf: der)
        certificate = CertificatePin(certificate: der)
    }

    func areMeant(by pin: Pin) -> Bool {
        switch pin.subject {
        case .publicKey(let pin): pin == key
        case .certificate(let pin): pin == certificate
        }
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
    fileprivate func otherRule(pinning served: Set<PublicKeyPin>, than rule: MatchedRule) -> NearestMiss? {
        let own = storage.rules[rule.index].terms
        for (index, other) in storage.terms.enumerated() where index != own {
            for case .publicKey(let pin) in (other.terms.pins + other.terms.backupPins).map(\.subject)
            where served.contains(pin) {
                guard let position = storage.rules.firstIndex(where: { $0.terms == index }) else { continue }
                let host = hosts[position]
                return .otherRule(
                    pin, rule: MatchedRule(index: position, host: host.host, port: host.port, isExact: false))
            }
        }
        return nil
    }
}
