public import Pintle
internal import PintleStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A store that replaces the bundled policy with signed updates, without a new release of the app.
///
/// ``current`` is read synchronously from any thread; it never waits for the disk or the network. An update comes into
/// force when it is verified and written to the disk. The store verifies it again at the next start. An update can only
/// be adopted before it expires, but it stays in force afterwards: if the app fell back to its bundled policy, an
/// attacker could choose the policy by blocking updates.
///
/// Several processes of one app may share a folder. A process sees updates that another process adopted when it next
/// asks for an update.
public actor PolicyStore: PolicySource {
    /// The behaviour of a store whose stored update is lost from the disk.
    public enum LossHandling: Sendable, Hashable {
        /// Falls back to the bundled policy and sends an event. An update is due at once. The floor is kept.
        case useBundled
        /// Throws when the store is opened. To recover, open a second store with ``useBundled``, use it only to fetch
        /// an update, then open this one again.
        case refuse
    }

    nonisolated private let vault: UpdateVault
    nonisolated let onEvent: @Sendable (PolicyStoreEvent) -> Void
    private let files: StoreFiles
    let mismatchLimit: MismatchLimit
    /// The history of fetches.
    var record: FetchRecord
    /// The running fetch. Only one runs at a time.
    var refreshing: Task<Fetched, Never>?
    /// The requests of the running fetch, and those of earlier fetches whose transport ignores cancellation.
    let openRequests = OpenRequests()

    /// Opens a store and reads the stored update.
    ///
    /// - Parameters:
    ///   - folder: an existing folder with mode 0700, for this store only. The store creates `update.json`,
    ///     `floor.json`, `fetches.json` and lock files in it.
    ///   - trust: the public keys that the app ships.
    ///   - bundled: the policy that the app ships. It limits the scope of every update.
    ///   - releaseDate: the build date of the release, as a constant that the build writes into the program. The later
    ///     one of this date and the `issuedAt` of the update in force is the
    ///     ``/Pintle/PolicySnapshot/newestKnownTime``.
    ///   - floor: a second place for the floor, besides its file. On Apple's systems this is the Keychain, which
    ///     outlives the folder.
    ///   - onLostStore: the behaviour if the stored update is lost.
    ///   - onEvent: called on any thread; it must return soon.
    /// - Throws: ``PolicyStoreError/lostStore(_:)`` and ``PolicyStoreError/floorUnreadable(_:)``, only with
    ///   ``LossHandling/refuse``.
    public init(
        folder: String, trust: UpdateTrust, bundled: PinningPolicy, releaseDate: Date? = nil,
        floor: (any UpdateFloorStorage)? = nil, onLostStore: LossHandling = .useBundled,
        onEvent: @escaping @Sendable (PolicyStoreEvent) -> Void = { _ in }
    ) throws(PolicyStoreError) {
        try self.init(
            files: StoreFiles(folder: folder, floorStorage: floor), trust: trust, bundled: bundled,
            releaseDate: releaseDate, onLostStore: onLostStore, onEvent: onEvent)
    }

    package init(
        files: StoreFiles, trust: UpdateTrust, bundled: PinningPolicy, releaseDate: Date? = nil,
        onLostStore: LossHandling = .useBundled, mismatchLimit: MismatchLimit? = nil,
        onEvent: @escaping @Sendable (PolicyStoreEvent) -> Void = { _ in }
    ) throws(PolicyStoreError) {
        vault = try UpdateVault(
            files: files, trust: trust, bundled: bundled, releaseDate: releaseDate, onLostStore: onLostStore,
            onEvent: onEvent)
        self.files = files
        self.onEvent = onEvent
        self.mismatchLimit = mismatchLimit ?? .shared
        record = FetchRecord(files.record)
    }

    /// The policy in force: the policy of ``update``, or the bundled one.
    nonisolated public var current: PolicySnapshot { vault.active.snapshot }

    /// The update in force; `nil` while the bundled policy is in force.
    nonisolated public var update: VerifiedUpdate? { vault.active.update }

    /// The floor as far as it is known. The store adopts no update below it.
    nonisolated package var floor: UpdateFloor? { vault.active.floor.lowerBound }

    /// The loss that put the bundled policy in force; `nil` if no update was lost, and after the next update is
    /// adopted.
    nonisolated public var loss: LostUpdate? { vault.active.loss }

    /// Verifies an update, stores it, and puts it in force.
    ///
    /// - Parameters:
    ///   - envelope: the bytes as they arrived.
    ///   - now: the time against which the dates of the update are checked.
    /// - Returns: the update in force.
    /// - Throws: the reason for which the update was not adopted. The update in force does not change, and the disk
    ///   usually does not change either. Exception: the update was written, but its floor could not be written to the
    ///   file or to the outside storage. The store then activates this update at the next start, or once its floor can
    ///   be written, and adopts no older one.
    @discardableResult
    public func adopt(_ envelope: [UInt8], at now: Date = Date()) throws(PolicyStoreError) -> VerifiedUpdate {
        try vault.adopt(envelope, at: now)
    }

    /// Activates an update that another process has adopted. If the floor could not be read when the store was opened,
    /// the store tries again; on success the outcome is that of a store that is opened now.
    public func reload() { vault.reload() }

    nonisolated var active: ActiveState { vault.active }

    func saveRecord() { record.write(to: files.record) }
}
