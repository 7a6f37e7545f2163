internal import PintleCrypto

/// A match of a pin against a validated path.
public struct PinMatch: Sendable, Hashable {
    public let pin: Pin
    /// How far from the leaf, which is 0.
    public let depth: Int
    /// Whether it was one of the backup pins: time to make a new backup.
    public let isBackup: Bool
}

/// The pins of a rule, laid out for matching.
///
/// Matching allocates nothing and hashes no more than it must: certificate by certificate from the
/// leaf, until the first pin matches.
struct PinSet: Sendable {
    private struct Entry: Sendable {
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

    private let entries: [Entry]
    private let requires: PinRequirement
    private let hasKeys: Bool
    private let hasCertificates: Bool

    init(pins: [Pin], backupPins: [Pin], requires: PinRequirement) {
        entries =
            pins.map { Self.entry($0, isBackup: false) } + backupPins.map { Self.entry($0, isBackup: true) }
        self.requires = requires
        hasKeys = entries.contains { !$0.isCertificate }
        hasCertificates = entries.contains { $0.isCertificate }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// The match that satisfies the rule, or `nil`. Where a leaf and a CA are required it is the leaf's.
    func match(_ path: ValidatedPath) -> PinMatch? {
        switch requires {
        case .anyPin:
            return firstMatch(in: path, from: 0)
        case .leafAndCA:
            guard let leaf = firstMatch(in: path, from: 0), leaf.depth == 0,
                firstMatch(in: path, from: 1) != nil
            else { return nil }
            return leaf
        }
    }

    private func firstMatch(in path: ValidatedPath, from start: Int) -> PinMatch? {
        var depth = start
        while depth < path.certificates.count {
            if let entry = entry(matching: path.certificates[depth], at: depth) {
                return PinMatch(pin: entry.pin, depth: depth, isBackup: entry.isBackup)
            }
            depth += 1
        }
        return nil
    }

    @inline(__always)
    private func entry(matching certificate: [UInt8], at depth: Int) -> Entry? {
        // A certificate without a readable key matches no pin, and hides no other certificate's match.
        if hasKeys, let pin = PublicKeyPin(sliceOf: certificate),
            let entry = entry(pin.digest, isCertificate: false, at: depth)
        {
            return entry
        }
        if hasCertificates {
            return entry(SHA256Digest(hashing: certificate), isCertificate: true, at: depth)
        }
        return nil
    }

    @inline(__always)
    private func entry(_ digest: SHA256Digest, isCertificate: Bool, at depth: Int) -> Entry? {
        for entry in entries
        where entry.digest == digest && entry.isCertificate == isCertificate && entry.position.covers(depth: depth) {
            return entry
        }
        return nil
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

extension PublicKeyPin {
    /// Hashes the SubjectPublicKeyInfo where it stands in a certificate; `nil` where there is none.
    @inline(__always)
    init?(sliceOf certificate: [UInt8]) {
        guard let range = try? SubjectPublicKeyInfo.range(inCertificate: certificate.span) else { return nil }
        self.init(
            digest: certificate.withUnsafeBytes { bytes in
                SHA256Digest(hashing: UnsafeRawBufferPointer(rebasing: bytes[range]))
            })
    }
}
