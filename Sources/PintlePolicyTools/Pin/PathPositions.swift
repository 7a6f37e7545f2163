package import Pintle

/// The certificates with their positions: on the validated path if there is one, else in the order sent.
package struct PathPositions {
    package struct Place {
        /// `leaf`, `1`, `2`..., `root`, `extra`.
        package let position: String
        package let der: [UInt8]
        /// The certificate; `nil` if it cannot be read.
        package let certificate: Certificate?
        package let isSent: Bool
        package let isOnPath: Bool

        init(_ position: String, _ der: [UInt8], isSent: Bool, isOnPath: Bool) {
            self.position = position
            self.der = der
            certificate = try? Certificate(der: der)
            self.isSent = isSent
            self.isOnPath = isOnPath
        }

        /// Returns whether this is the pinned certificate, or has the pinned key.
        package func shows(_ subject: Pin.Subject) -> Bool {
            switch subject {
            case .publicKey(let key): certificate?.publicKeyPin == key
            case .certificate(let fingerprint): CertificatePin(certificate: der) == fingerprint
            }
        }

        /// Returns whether the pin is of this certificate or its key, and may match at this depth.
        package func isMatched(by pin: Pin, depth: Int) -> Bool {
            pin.position.covers(depth: depth) && shows(pin.subject)
        }
    }

    /// The path from leaf to anchor, or without a path the chain that was sent. Certificates beside the path come last.
    package let places: [Place]
    private let presented: [[UInt8]]

    package init(path: ValidatedPath?, presented: [[UInt8]]) {
        self.presented = presented
        guard let path else {
            places = presented.enumerated().map { depth, der in
                let position = PinEntry.position(depth, of: presented.count, isRoot: Self.namesItself(der))
                return Place(position, der, isSent: true, isOnPath: false)
            }
            return
        }
        // Compared one by one: a chain has few certificates, and hashing all their bytes takes longer.
        let onPath = path.certificates.enumerated().map { depth, der in
            let position = PinEntry.position(depth, of: path.certificates.count, isRoot: true)
            return Place(position, der, isSent: presented.contains(der), isOnPath: true)
        }
        var extras: [[UInt8]] = []
        for der in presented where !path.certificates.contains(der) && !extras.contains(der) { extras.append(der) }
        places = onPath + extras.map { Place("extra", $0, isSent: true, isOnPath: false) }
    }

    package var onPath: [Place] { places.filter(\.isOnPath) }

    /// The certificates in the order in which they were sent.
    package var sent: [Place] {
        presented.compactMap { der in places.first { $0.der == der } }
    }

    /// Returns the certificate that a failure at this depth is about. Without a valid path it is the one that was sent
    /// in this place, provided that each one below it names the next as its issuer.
    package func place(atDepth depth: Int) -> Place? {
        guard places.indices.contains(depth) else { return nil }
        let below = places[0...depth].map(\.certificate)
        let isChain = zip(below, below.dropFirst()).allSatisfy { $0 != nil && $0?.issuerDER == $1?.subjectDER }
        return isChain ? places[depth] : nil
    }

    private static func namesItself(_ der: [UInt8]) -> Bool {
        guard let certificate = try? Certificate(der: der) else { return false }
        return certificate.isCA && certificate.isSelfIssued
    }
}

extension [PathPositions.Place] {
    /// Returns whether the pin matches a certificate of the path, which begins with the leaf.
    package func isMatched(by pin: Pin) -> Bool { indices.contains { self[$0].isMatched(by: pin, depth: $0) } }
}
