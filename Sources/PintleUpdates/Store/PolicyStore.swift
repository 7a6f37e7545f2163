public import Pintle
public import PintleStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The policy in force, and how it changes without a release of the app: bundled, then stored, then fetched.
///
/// ``current`` is read synchronously, from any thread, without waiting for the disk or the network. An update is in
/// force once it is verified and on the disk; at the next start it is verified again. Its expiry ends its adoption, not
/// its force: an app that went back to its bundled policy would let whoever blocks updates choose the policy.
///
/// Several processes of one app may share a folder. Each sees what another adopted when it next asks for an update.
public actor PolicyStore: PolicySource {
    /// What to do when an update that was in force is lost from the disk.
    public enum LostStore: Sendable, Hashable {
        /// The bundled policy is in force, an event says so, and an update is due at once. The floor is kept.
        case useBundled
        /// The store does not open. The way back is a store that is opened with ``useBundled``, fetches, and is used for
        /// nothing else; then this one opens.
        case refuse
    }

    nonisolated private let vault: UpdateVault
    nonisolated let onEvent: @Sendable (PolicyStoreEvent) -> Void
    private let files: StoreFiles
    let mismatchLimit: MismatchLimit
    /// The history of fetches.
    var record: FetchRecord
    /// The fetch that is running; there is one at a time.
    var refreshing: Task<Fetched, Never>?
    /// The requests of this fetch, and of an earlier one whose transport ignores cancellation.
    let openRequests = OpenRequests()

    /// Opens a store, and reads what is there.
    ///
    /// - Parameters:
    ///   - folder: a folder of its own, mode 0700, which exists. The store makes `update.json`, `floor.json` and
    ///     `update.json.lock` in it.
    ///   - trust: the public keys that the app ships.
    ///   - bundled: the policy that the app ships. Every update is measured against it.
    ///   - releaseDate: when the release was built, as a constant that the build writes into the program. With `issuedAt`
    ///     of the update in force it is the ``PolicySnapshot/newestKnownTime``.
    ///   - floor: where the floor is kept beside its file: on Apple's systems the Keychain, which outlives the folder.
    ///   - onEvent: called on any thread; it must return soon.
    /// - Throws: ``PolicyStoreError/lostStore(_:)`` and ``PolicyStoreError/floorUnreadable(_:)``, only with
    ///   ``LostStore/refuse``.
    public init(
        folder: String, trust: UpdateTrust, bundled: PinningPolicy, releaseDate: Date? = nil,
        floor: (any UpdateFloorStorage)? = nil, onLostStore: LostStore = .useBundled,
        onEvent: @escaping @Sendable (PolicyStoreEvent) -> Void = { _ in }
    ) throws(PolicyStoreError) {
        try self.init(
            files: StoreFiles(folder: folder, floorStorage: floor), trust: trust, bundled: bundled,
            releaseDate: releaseDate, onLostStore: onLostStore, onEvent: onEvent)
    }

    package init(
        files: StoreFiles, trust: UpdateTrust, bundled: PinningPolicy, releaseDate: Date? = nil,
        onLostStore: LostStore = .useBundled, mismatchLimit: MismatchLimit? = nil,
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

    /// The policy in force: that of ``update``, or the bundled one.
    nonisolated public var current: PolicySnapshot { vault.active.snapshot }

    /// The update in force; `nil` while the bundled policy is.
    nonisolated public var update: VerifiedUpdate? { vault.active.update }

    /// The floor as far as it is known: no update below it is adopted.
    nonisolated package var floor: UpdateFloor? { vault.active.floor.lowerBound }

    /// Why the bundled policy is in force although an update was; `nil` where nothing is lost, and after the next
    /// update.
    nonisolated public var loss: PolicyStoreLoss? { vault.active.loss }

    /// Checks an update and puts it in force.
    ///
    /// - Parameter envelope: the bytes as they arrived.
    /// - Returns: what is in force now.
    /// - Throws: why it was not taken; what is in force is then what it was. So is what is on the disk, unless the disk
    ///   failed after it had taken the update and before its floor, or the place outside did not take the floor: it is
    ///   then found at the next start, or as soon as its floor can be kept, and nothing below it is taken.
    @discardableResult
    public func adopt(_ envelope: [UInt8], at now: Date = Date()) throws(PolicyStoreError) -> VerifiedUpdate {
        try vault.adopt(envelope, at: now)
    }

    /// Takes over what another process has adopted. Where the floor could not be read when the store was opened, looks
    /// again: once it can be, what is in force is what a store would have that is opened now.
    public func reload() { vault.reload() }

    nonisolated var active: ActiveState { vault.active }

    func saveRecord() { record.write(to: files.record) }
}
