internal import Pintle

/// Which certificate stands where: on the validated path, where there is one, else in the order sent.
struct PathPositions {
    struct Place {
        /// `leaf`, `1`, `2`..., `root`, `extra`.
        let position: String
        let der: [UInt8]
        let isSent: Bool
        let isOnPath: Bool

        /// `nil` where it cannot be read.
        var certificate: Certificate? { try? Certificate(der: der) }
    }

    /// The path, leaf to anchor; without one, what was sent. What was sent beside the path comes last.
    let places: [Place]
    private let presented: [[UInt8]]

    init(path: ValidatedPath?, presented: [[UInt8]]) {
        self.presented = presented
        guard let path else {
            places = presented.enumerated().map { depth, der in
                Place(
                    position: Self.position(depth, of: presented.count, isRoot: Self.namesItself(der)), der: der,
                    isSent: true, isOnPath: false)
            }
            return
        }
        let sent = Set(presented)
        let onPath = path.certificates.enumerated().map { depth, der in
            Place(
                position: PinEntry.position(depth, of: path.certificates.count, isRoot: true), der: der,
                isSent: sent.contains(der), isOnPath: true)
        }
        var known = Set(path.certificates)
        let extras = presented.filter { known.insert($0).inserted }.map {
            Place(position: "extra", der: $0, isSent: true, isOnPath: false)
        }
        places = onPath + extras
    }

    var onPath: [Place] { places.filter(\.isOnPath) }

    /// What was sent, in its order.
    var sent: [Place] {
        presented.compactMap { der in places.first { $0.der == der } }
    }

    private static func position(_ depth: Int, of count: Int, isRoot: Bool) -> String {
        PinEntry.position(depth, of: count, isRoot: isRoot)
    }

    private static func namesItself(_ der: [UInt8]) -> Bool {
        guard let certificate = try? Certificate(der: der) else { return false }
        return certificate.isCA && certificate.isSelfIssued
    }
}
