internal import PintleCrypto

/// A match of a pin with a certificate of a validated path.
public struct PinMatch: Sendable, Hashable {
    /// The pin that matched.
    public let pin: Pin
    /// The index of the certificate in the path. The leaf has depth 0.
    public let depth: Int
    /// A Boolean value that indicates whether a backup pin matched. If so, it is time to make a new backup.
    public let isBackup: Bool
}

/// The pins of a rule in the form used for matching.
///
/// Matching allocates nothing and hashes as little as possible: certificate by certificate from the leaf, until the
/// first pin matches.
struct PinSet: Sendable {
    struct Entry: Sendable {
        let digest: SHA256Digest
        let isCertificate: Bool
        let isBackup: Bool
        let position: PinPosition

        var pin: Pin {
            Pin(
                isCertificate
                    ? .certificate(CertificatePin(digest: digest)) : .publicKey(PublicKeyPin(digest: digest)),
                at: position)
        }
    }

    /// The rule's way of matching: which pins must match, and which hashes are needed.
    struct Terms: Sendable {
        fileprivate enum Combination {
            case anyPin, leafAndCA, nothing
        }

        fileprivate var combination: Combination
        fileprivate let hasKeys: Bool
        fileprivate let hasCertificates: Bool

        /// The same terms, changed so that no path matches.
        var matchingNothing: Terms {
            var terms = self
            terms.combination = .nothing
            return terms
        }
    }

    let entries: [Entry]
    let terms: Terms

    init(pins: [Pin], backupPins: [Pin], requires: PinRequirement) {
        let entries = Self.entries(pins, backupPins)
        self.entries = entries
        terms = Terms(
            combination: requires == .leafAndCA ? .leafAndCA : .anyPin, hasKeys: entries.contains { !$0.isCertificate },
            hasCertificates: entries.contains { $0.isCertificate })
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Returns the match that satisfies the rule, or `nil`. If the rule requires a leaf and a CA, it is the leaf's.
    func match(_ path: ValidatedPath) -> PinMatch? {
        entries.elementSpan.match(path, terms)
    }

    private static func entries(_ pins: [Pin], _ backupPins: [Pin]) -> [Entry] {
        // The most frequent case: a literal is cheaper than an array that grows, and a policy may have a million rules.
        if pins.count == 1, backupPins.count == 1 {
            return [entry(pins[0], isBackup: false), entry(backupPins[0], isBackup: true)]
        }
        var entries: [Entry] = []
        entries.reserveCapacity(pins.count + backupPins.count)
        for pin in pins { entries.append(entry(pin, isBackup: false)) }
        for pin in backupPins { entries.append(entry(pin, isBackup: true)) }
        return entries
    }

    private static func entry(_ pin: Pin, isBackup: Bool) -> Entry {
        switch pin.subject {
        case .publicKey(let key):
            Entry(digest: key.digest, isCertificate: false, isBackup: isBackup, position: pin.position)
        case .certificate(let certificate):
            Entry(digest: certificate.digest, isCertificate: true, isBackup: isBackup, position: pin.position)
        }
    }
}

/// The matching works on spans, because passing an array retains and releases it, which costs more than all
/// comparisons.
extension Span<PinSet.Entry> {
    /// Returns the match that satisfies the rule, or `nil`. If the rule requires a leaf and a CA, it is the leaf's.
    @inline(__always)
    func match(_ path: ValidatedPath, _ terms: PinSet.Terms) -> PinMatch? {
        guard let first = firstMatch(in: path, from: 0, terms) else { return nil }
        if terms.combination != .anyPin {
            guard terms.combination == .leafAndCA, first.depth == 0, firstMatch(in: path, from: 1, terms) != nil else {
                return nil
            }
        }
        let entry = self[first.index]
        return PinMatch(pin: entry.pin, depth: first.depth, isBackup: entry.isBackup)
    }

    /// Returns the index of the first pin that matches, and the depth of its certificate.
    private func firstMatch(
        in path: ValidatedPath, from start: Int, _ terms: PinSet.Terms
    ) -> (index: Int, depth: Int)? {
        let certificates = path.certificates.elementSpan
        var depth = start
        while depth < certificates.count {
            if let index = index(matching: certificates[depth].elementSpan, at: depth, terms) { return (index, depth) }
            depth += 1
        }
        return nil
    }

    @inline(__always)
    private func index(matching certificate: Span<UInt8>, at depth: Int, _ terms: PinSet.Terms) -> Int? {
        // A certificate whose key cannot be read matches no public-key pin, and does not prevent other certificates
        // from matching.
        if terms.hasKeys, let pin = PublicKeyPin(sliceOf: certificate),
            let index = index(of: pin.digest, isCertificate: false, at: depth)
        {
            return index
        }
        if terms.hasCertificates {
            return index(of: SHA256Digest(hashing: certificate.bytes), isCertificate: true, at: depth)
        }
        return nil
    }

    @inline(__always)
    private func index(of digest: SHA256Digest, isCertificate: Bool, at depth: Int) -> Int? {
        for index in indices {
            let entry = self[index]
            if entry.digest == digest, entry.isCertificate == isCertificate, entry.position.covers(depth: depth) {
                return index
            }
        }
        return nil
    }
}

extension PublicKeyPin {
    /// Hashes the SubjectPublicKeyInfo of a certificate in place; `nil` if it cannot be read.
    init?(sliceOf certificate: [UInt8]) {
        self.init(sliceOf: certificate.elementSpan)
    }

    @inline(__always)
    init?(sliceOf certificate: Span<UInt8>) {
        guard let range = try? SubjectPublicKeyInfo.range(inCertificate: certificate) else { return nil }
        self.init(digest: SHA256Digest(hashing: certificate.bytes.extracting(range)))
    }
}

extension PinMatch: CustomStringConvertible {
    /// The pin, its depth, and whether it is a backup: `sha256/... at depth 0`.
    public var description: String { "\(pin) at depth \(depth)" + (isBackup ? ", a backup pin" : "") }
}
