internal import Pintle
internal import PintleSystem

/// Versions of the app that cannot connect to a server from an instant on.
struct LockOut {
    struct Victim {
        let app: Int
        /// The instant at which the lock-out ends for this version; `nil` for the plan's end.
        var until: Date?
    }

    let server: Int
    /// The certificate that the server shows when the lock-out begins.
    let certificate: Int
    /// The rejection of the first victim. All victims have the same reason and failure code.
    let rejection: TrustRejection
    /// A Boolean value that indicates whether the policy asks the user about the server, which no rule covers.
    let asksUser: Bool
    /// The update that brought the refusing policy; `nil` if the app shipped with the policy.
    let update: Int?
    /// The rule's `issuerKey` if the server's certificate comes from another issuer; `nil` for every other cause.
    var issuerKey: PublicKeyPin?
    /// The lists of the versions' Info.plist that have no key of the path, `leaf` and `ca`; empty unless the system
    /// refuses.
    var unmatchedLists: [PinPosition] = []
    let from: Date
    var victims: [Victim]

    var isBySystem: Bool { !unmatchedLists.isEmpty }
    var reason: String { (asksUser ? .unknownHost : rejection.code).rawValue }
    var pathFailure: PathFailure.Code? { rejection.pathFailure?.code }

    /// The instant at which all of them can connect again; `nil` if that is not before the plan's end.
    var until: Date? {
        let ends = victims.compactMap(\.until)
        return ends.count == victims.count ? ends.max() : nil
    }
}

extension LockOut {
    /// Returns `true` if both have the same cause, at any time and for any versions.
    func isAlike(_ other: LockOut, atServer server: Int? = nil) -> Bool {
        self.server == server ?? other.server && certificate == other.certificate && reason == other.reason
            && pathFailure == other.pathFailure && update == other.update && issuerKey == other.issuerKey
            && unmatchedLists == other.unmatchedLists
    }
}

/// Versions that would accept a thief with a stolen key as the server.
struct Exposure {
    let server: Int
    let certificate: Int
    let key: Int
    let from: Date
    /// The instant at which the exposure ends; `nil` for the plan's end.
    let until: Date?
    let apps: [Int]

    /// Returns `true` if both expose the same versions to the same key at the same time, through any certificate.
    func isAlike(_ other: Exposure) -> Bool {
        key == other.key && from == other.from && until == other.until && apps == other.apps
    }
}
