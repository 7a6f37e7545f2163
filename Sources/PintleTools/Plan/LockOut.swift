internal import Pintle
internal import PintleSystem

/// Users of some versions of the app who cannot connect to a server from an instant on.
struct LockOut {
    struct Victim {
        let app: Int
        /// The instant at which the lock-out ends for this version; `nil` for the plan's end.
        var until: Date?
        /// The share of users when the lock-out begins.
        let share: UserShare
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
    let from: Date
    var victims: [Victim]
    /// The share of all victims together when the lock-out begins.
    var share = UserShare.none
    /// The largest share of all victims together, and its instant.
    var peak = UserShare.none
    var peakAt: Date

    var reason: String { asksUser ? "unknown-host" : rejection.reason }
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
    }
}

/// Users whose app would accept a thief with a stolen key as the server.
struct Exposure {
    let server: Int
    let certificate: Int
    let key: Int
    let from: Date
    /// The instant at which the exposure ends; `nil` for the plan's end.
    let until: Date?
    let apps: [Int]
    /// The share when the exposure begins.
    let share: UserShare
    /// The share at the end of the plan, or when the certificate ends.
    let lastShare: UserShare

    /// Returns `true` if both expose the same users to the same key at the same time, through any certificate.
    func isAlike(_ other: Exposure) -> Bool {
        key == other.key && from == other.from && until == other.until && apps == other.apps && share == other.share
            && lastShare == other.lastShare
    }
}
