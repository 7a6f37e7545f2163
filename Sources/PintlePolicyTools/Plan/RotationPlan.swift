internal import Pintle
internal import PintlePolicyLint
internal import PintleSystem

/// A plan file: the future of keys, certificates, releases and updates. Indices into the lists replace the names of the
/// file.
package struct RotationPlan: Sendable {
    struct Key: Sendable {
        let name: String
        let pin: PublicKeyPin
        /// The instant at which a thief got the key; `nil` if it is not stolen.
        var compromised: Date?
        /// A Boolean value that indicates whether each renewal makes such a key. No policy can name a key before it
        /// exists, so no pin matches it, and ``pin`` is never printed.
        var isMadeLater = false
    }

    struct Certificate: Sendable {
        let name: String
        /// The keys of the path, leaf first and anchor last; at least one.
        var keys: [Int]
        let notBefore: Date
        var notAfter: Date
        /// The leaf's fingerprint, for apps that pin the certificate.
        var fingerprint: CertificatePin?
        /// A Boolean value that indicates whether the path ends in a root that systems trust.
        var isPublic = true
        /// The pattern, if this stands for all certificates of one; `nil` for a certificate of the plan's list.
        var renewal: Renewal?
    }

    /// A renewal pattern under one of its authorities.
    ///
    /// One certificate stands for all of them: a policy decides equally about each. It is valid from the first to the
    /// end of the last.
    struct Renewal: Sendable {
        /// The program that renews; `nil` if the plan does not name it.
        let client: RenewalClient?
        /// The days from one renewal to the next.
        let every: Int
        /// The days for which each certificate is valid.
        let lifetime: Int
        /// The names of the keys above the leaf: `root A`
        let authority: String
        /// A Boolean value that indicates whether the certificates can come from other authorities as well.
        let hasAlternatives: Bool
    }

    /// A server. One whose certificates can come from several authorities is in the plan once for each of them.
    struct Server: Sendable {
        struct Switch: Sendable {
            let from: Date
            let certificate: Int
        }

        let endpoint: ServerEndpoint
        /// The switches, each later than the one before; at least one.
        let switches: [Switch]

        /// The name in sentences, without the default port.
        var name: String { endpoint.port == 443 ? endpoint.host.description : endpoint.description }
    }

    struct App: Sendable {
        let version: String
        let released: Date
        /// The position in ``RotationPlan/policies``.
        let policy: Int
        let fetchesUpdates: Bool
        /// The instant from which the version no longer counts; `nil` for a version that counts to the plan's end.
        var supportedUntil: Date?
        /// The pins of the version's Info.plist, which the system enforces; `nil` if it has none, or the plan does not
        /// say.
        var infoPlist: InfoPlistPins?

        /// Returns `true` from the release to the end of the support.
        func isSupported(at instant: Date) -> Bool {
            instant >= released && supportedUntil.map { instant < $0 } ?? true
        }
    }

    struct Update: Sendable {
        let version: Int
        let published: Date
        let expires: Date
        let policy: Int
    }

    /// The end of the simulation.
    let until: Date
    let keys: [Key]
    var certificates: [Certificate]
    let servers: [Server]
    /// The versions in the order of their release.
    let apps: [App]
    /// The updates in the order of their versions.
    let updates: [Update]
    /// The days until most users have fetched an update; `nil` if the plan does not say.
    var daysToFetch: Int?
    /// The policies. A policy file occurs once, however often the plan names it.
    let policies: [PinningPolicy]

    /// The days that an update needs if the plan does not say. An app that is not opened does not ask for updates.
    package static let defaultDaysToFetch = 14

    /// Returns the lists of an Info.plist by which the system refuses a server with a certificate.
    func unmatchedLists(
        of pins: InfoPlistPins, serving certificate: Int, at endpoint: ServerEndpoint
    ) -> [PinPosition] {
        let path = certificates[certificate].keys.map { keys[$0].isMadeLater ? nil : keys[$0].pin }
        return pins.unmatchedLists(path, of: endpoint.host)
    }

    /// Returns the name of a key for sentences: `"root A"`, or `a new key`
    func quotedName(ofKey key: Int) -> String { keys[key].isMadeLater ? "a new key" : "\"\(keys[key].name)\"" }

    /// Returns `version 2.1`, or `versions 2.1, 2.2`
    func versions(_ apps: [Int]) -> String {
        (apps.count == 1 ? "version " : "versions ") + names(ofVersions: apps)
    }

    /// Returns `2.1, 2.2`
    func names(ofVersions apps: [Int]) -> String { apps.map { self.apps[$0].version }.joined(separator: ", ") }

    /// Returns ` if its certificate comes from "root B"`; empty if only one authority is possible.
    func condition(ofCertificate certificate: Int?) -> String {
        guard let certificate, let renewal = certificates[certificate].renewal, renewal.hasAlternatives else {
            return ""
        }
        return " if its certificate comes from \"\(renewal.authority)\""
    }
}

/// The limits of a plan. They bound the work, because the simulation judges every server under every policy at every
/// change.
enum PlanLimits {
    static let fileSize = 16 << 20
    static let policyFileSize = 1 << 20
    static let keys = 64
    static let certificates = 64
    static let keysOfPath = 16
    static let servers = 8
    static let switches = 32
    static let authorities = 8
    /// The servers, counted once for each authority that their renewals can come from.
    static let cases = 16
    static let apps = 32
    static let updates = 8
    /// The days from now to the plan's end at most: ten years.
    static let days = 3_653
}

/// The keys of a plan file, object by object.
enum PlanKeys {
    enum Plan: String, CaseIterable { case version, until, keys, certificates, servers, apps, updates, daysToFetch }
    enum Key: String, CaseIterable { case name, pin, compromised }
    enum Certificate: String, CaseIterable { case name, keys, notBefore, notAfter, fingerprint, trust }
    enum Server: String, CaseIterable { case host, port, serves, renews }
    enum Renewal: String, CaseIterable { case client, from, every, lifetime, keys, key, authorities, trust }
    enum RenewalKeys: String, CaseIterable { case new, same }
    enum Switch: String, CaseIterable { case from, certificate }
    enum App: String, CaseIterable {
        case version, released, supportedUntil, policy, fetchesUpdates, infoPlist
        /// The former share of users. Its error names ``supportedUntil``.
        case share

        static let allCases: [App] = [.version, .released, .supportedUntil, .policy, .fetchesUpdates, .infoPlist]
    }
    enum Update: String, CaseIterable {
        case version, published, expires, policy
        /// The former curve of an update's users. Its error names ``Plan/daysToFetch``.
        case reach

        static let allCases: [Update] = [.version, .published, .expires, .policy]
    }
    enum Trust: String, CaseIterable { case system, `private` }
}
