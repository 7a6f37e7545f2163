internal import PintleCrypto

/// A match of a pin with a certificate of a validated path.
public struct PinMatch: Sendable, Hashable {
    /// The pin that matched.
    public let pin: Pin
    /// The index of the certificate in the path. The leaf has depth 0.
    public let depth: Int
    /// A Boolean value that indicates whether a backup pin matched. If it is the pin of a key of your own, it is time
    /// to make a new backup.
    public let isBackup: Bool
}

/// The pins of a rule. Matching hashes as little as possible: certificate by certificate from the leaf, until the first
/// pin matches.
struct PinSet: Sendable {
    let pins: [Pin]
    let backupPins: [Pin]
    let requires: PinRequirement

    var isEmpty: Bool { pins.isEmpty && backupPins.isEmpty }

    /// Returns the match that satisfies the rule, or `nil`. If the rule requires a leaf and a CA, it is the leaf's.
    func match(_ path: ValidatedPath) -> PinMatch? {
        guard let first = firstMatch(in: path, from: 0) else { return nil }
        guard requires == .leafAndCA else { return first }
        return first.depth == 0 && firstMatch(in: path, from: 1) != nil ? first : nil
    }

    private func firstMatch(in path: ValidatedPath, from start: Int) -> PinMatch? {
        let hasKeys = contains { $0.key != nil }
        let hasCertificates = contains { $0.fingerprint != nil }
        for depth in (0..<path.count).dropFirst(start) {
            // A certificate whose key cannot be read matches no public-key pin, and does not prevent other certificates
            // from matching.
            if hasKeys, let key = path.publicKeyPin(at: depth), let match = match(of: .publicKey(key), at: depth) {
                return match
            }
            if hasCertificates, let certificate = path.fingerprint(at: depth),
                let match = match(of: .certificate(certificate), at: depth)
            {
                return match
            }
        }
        return nil
    }

    private func match(of subject: Pin.Subject, at depth: Int) -> PinMatch? {
        func isMatch(_ pin: Pin) -> Bool { pin.subject == subject && pin.position.covers(depth: depth) }
        if let pin = pins.first(where: isMatch) { return PinMatch(pin: pin, depth: depth, isBackup: false) }
        return backupPins.first(where: isMatch).map { PinMatch(pin: $0, depth: depth, isBackup: true) }
    }

    private func contains(_ isKind: (Pin) -> Bool) -> Bool {
        pins.contains(where: isKind) || backupPins.contains(where: isKind)
    }
}

extension PublicKeyPin {
    /// Hashes the SubjectPublicKeyInfo of a certificate; `nil` if it cannot be read.
    init?(sliceOf certificate: [UInt8]) {
        guard let range = try? SubjectPublicKeyInfo.range(inCertificate: certificate) else { return nil }
        self.init(digest: SHA256Digest(hashing: certificate[range]))
    }
}

extension PinMatch: CustomStringConvertible {
    /// The pin, its depth, and whether it is a backup: `sha256/... at depth 0`.
    public var description: String { "\(pin) at depth \(depth)" + (isBackup ? ", a backup pin" : "") }
}
