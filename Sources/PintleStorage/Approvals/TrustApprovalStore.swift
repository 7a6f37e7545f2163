public import Pintle
internal import PintlePolicyFile

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Stores the decisions of users about servers, in a file or in memory.
///
///     let store = try TrustApprovalStore(path: folder + "/trust.json")
///     let session = URLSession.pinned(to: ApprovedPolicy(policy, approvals: store))
///
/// Each change starts a new generation: after a revocation, no connection of a `PinnedURLSession` that relied on the
/// approval carries a new request. Several processes may share one file. A change by one process takes effect at the
/// next decision of the others.
///
/// Safe to use from any thread. A look-up costs one system call if the file has not changed, and never waits for
/// another process. A change waits for the disk, and at most ten seconds for another process.
public final class TrustApprovalStore: Sendable {
    private let state: Locked<StoreState>
    private let file: DurableFile?
    private let onEvent: @Sendable (TrustStoreEvent) -> Void

    /// Creates an empty store in memory, for tests and for decisions that should not outlive the process.
    public init() {
        file = nil
        state = Locked(StoreState())
        onEvent = { _ in }
    }

    /// Opens the store in a file, which need not exist. Nothing is written before the first change.
    ///
    /// A damaged store opens without any approval; ``problem`` describes the damage. The first change renames the
    /// damaged file to `path.corrupt`. While that file exists, a changed certificate cannot be distinguished from a
    /// first contact: see ``/Pintle/UnknownHost/approvalRecord``.
    ///
    /// - Parameters:
    ///   - path: the file. A change also creates `path.lock`, which stays, and `path.new`, which is temporary.
    ///   - onEvent: called on the thread that reads or changes the store, possibly inside a handshake. It must return
    ///     at once.
    /// - Throws: ``TrustStoreError`` if the file cannot be used. It may be a folder, a symbolic link or a pipe. It may
    ///   be unreadable, larger than 16 MiB, owned by another user, or writable by others. It may be from a later
    ///   release, or not a store at all, not even a damaged one.
    public convenience init(
        path: String, onEvent: @escaping @Sendable (TrustStoreEvent) -> Void = { _ in }
    ) throws(TrustStoreError) {
        try self.init(
            file: DurableFile(path, options: .init(maximumSize: TrustApprovals.maximumFileSize)), onEvent: onEvent)
    }

    package init(
        file: DurableFile, onEvent: @escaping @Sendable (TrustStoreEvent) -> Void = { _ in }
    ) throws(TrustStoreError) {
        self.file = file
        state = Locked(StoreState())
        self.onEvent = onEvent
        _ = current
        switch problem {
        case nil, .damaged: break
        case let problem?: throw problem
        }
    }

    // MARK: Reading

    /// The approvals that count now. Empty if the file cannot be used; ``problem`` then gives the reason.
    /// ``/Pintle/TrustApprovals/record`` says whether they are complete.
    public var approvals: TrustApprovals { current.approvals }

    /// The reason that no approval counts, as of the last read; `nil` if the store is usable.
    public var problem: TrustStoreError? { state.withLock { $0.problem } }

    package var current: StoreSnapshot {
        guard let file else { return state.withLock { $0.snapshot } }
        return look(at: file, under: nil).snapshot
    }

    /// The user's decision about a server, even if it no longer counts.
    public subscript(endpoint: ServerEndpoint) -> TrustApproval? { approvals[endpoint] }

    // MARK: Changing

    /// Stores the user's approval of a server.
    ///
    /// - Parameters:
    ///   - host: the question that the user answered.
    ///   - part: what the approval is bound to: the certificate or its key.
    ///   - exceptions: failures beyond `self-signed` and `untrusted-root` that the user was shown and accepts. Only for
    ///     an approval of the certificate. See `UnknownHost.exceptionsOfCertificate`.
    ///   - instant: the time of the answer.
    ///   - expiry: the end of the approval; `nil` for no end.
    ///   - note: a text to show in a list of approvals.
    ///   - acceptsIncompleteRecord: `true` if the user was told that the store was damaged or lost, so that the server
    ///     may have had another certificate before, and approved it all the same.
    /// - Returns: the stored approval.
    /// - Throws: ``TrustStoreError/approval(_:)`` for the errors of ``/Pintle/TrustApprovals``. This includes
    ///   ``/Pintle/TrustApprovalError/incompleteRecord(_:)`` after such a loss, and the error for a server about which
    ///   another process has stored a decision since the user was asked. Also throws if the file could not be changed.
    @discardableResult
    public func approve(
        _ host: UnknownHost, as part: UnknownHost.ApprovedPart = .certificate,
        alsoAccepting exceptions: Set<TrustApproval.AcceptedFailure> = [], at instant: Date = Date(),
        until expiry: Date? = nil, note: String? = nil, acceptingIncompleteRecord acceptsIncompleteRecord: Bool = false
    ) throws(TrustStoreError) -> TrustApproval {
        try change { approvals throws(TrustApprovalError) in
            try approvals.approve(
                host, as: part, alsoAccepting: exceptions, at: instant, until: expiry, note: note,
                acceptingIncompleteRecord: acceptsIncompleteRecord)
        }
    }

    /// Adds an approval. Throws if another certificate or key is approved for the server: use ``replace(_:)`` for a
    /// changed key.
    public func approve(_ approval: TrustApproval) throws(TrustStoreError) {
        try change { approvals throws(TrustApprovalError) in try approvals.approve(approval) }
    }

    /// Adds an approval and replaces any other for the server. Only for a user who has checked the new fingerprint.
    public func replace(_ approval: TrustApproval) throws(TrustStoreError) {
        try change { approvals throws(TrustApprovalError) in approvals.replace(approval) }
    }

    /// Revokes the approval of a server.
    ///
    /// - Parameters:
    ///   - endpoint: the server.
    ///   - instant: the time of the revocation.
    /// - Returns: the revoked approval; `nil` if there was none.
    @discardableResult
    public func revoke(_ endpoint: ServerEndpoint, at instant: Date = Date()) throws(TrustStoreError) -> TrustApproval?
    {
        try change { approvals throws(TrustApprovalError) in approvals.revoke(endpoint, at: instant) }
    }
}

// MARK: Read, change, write

extension TrustApprovalStore {
    private func look(
        at file: DurableFile, under lock: FileLock?
    ) -> (snapshot: StoreSnapshot, problem: TrustStoreError?) {
        let (snapshot, problem, events) = state.withLock { state in
            let events = state.look(at: file, under: lock)
            return (state.snapshot, state.problem, events)
        }
        for event in events { onEvent(event) }
        return (snapshot, problem)
    }

    private func change<Answer: Sendable>(
        _ body: (inout TrustApprovals) throws(TrustApprovalError) -> Answer
    ) throws(TrustStoreError) -> Answer {
        guard let file else { return try changeInMemory(body) }
        let lock: FileLock
        do {
            lock = try file.lock()
        } catch {
            throw .file(error)
        }
        // Read under the lock, so that no change of another process is overwritten.
        let (before, problem) = look(at: file, under: lock)
        if let problem { throw problem }
        var approvals = before.approvals
        let answer: Answer
        do {
            answer = try body(&approvals)
        } catch {
            throw .approval(error)
        }
        guard approvals != before.approvals else { return answer }
        do {
            try file.write(approvals.json(), under: lock)
        } catch {
            throw .file(error)
        }
        _ = look(at: file, under: lock)
        return answer
    }

    private func changeInMemory<Answer: Sendable>(
        _ body: (inout TrustApprovals) throws(TrustApprovalError) -> Answer
    ) throws(TrustStoreError) -> Answer {
        let result = state.withLock { state -> Result<Answer, TrustApprovalError> in
            var approvals = state.snapshot.approvals
            do throws(TrustApprovalError) {
                let answer = try body(&approvals)
                state.replaceApprovals(with: approvals)
                return .success(answer)
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let answer): return answer
        case .failure(let error): throw .approval(error)
        }
    }
}

/// Distinguishes a damaged store from a file that was never a store.
///
/// A mistyped path may lead to a policy or a private key, and the store must not move such a file. If a damaged store
/// is not recognized, the error asks the owner to move it.
enum StoreRemainder {
    static func isOne(_ bytes: [UInt8]) -> Bool {
        // An empty file, or the zeros that some file systems leave after a loss of power. Moving it loses nothing.
        if bytes.allSatisfy({ $0 == 0 }) { return true }
        // Truncated near the start.
        if head.starts(with: bytes) || bytes.starts(with: head) { return true }
        // Truncated later, cut at its start, or damaged in the middle. No other file contains both words of a pair.
        // Only the ends of the file are searched, because this may run inside a handshake.
        return [bytes.prefix(searched), bytes.suffix(searched)].contains { part in
            holds("generation", part) && holds("approvals", part) || holds("approvedAt", part) && holds("accepts", part)
        }
    }

    private static let searched = 65_536

    /// The start of every store's file, up to the first number that differs.
    private static let head = Array(
        TrustApprovals.none.json().prefix { $0 != UInt8(ascii: "0") })

    /// Returns whether the bytes contain a JSON string, in the notation that a store writes.
    private static func holds(_ key: String, _ bytes: ArraySlice<UInt8>) -> Bool {
        let wanted = Array("\"\(key)\"".utf8)
        var start = bytes.startIndex
        while let quote = bytes[start...].firstIndex(of: UInt8(ascii: "\"")) {
            if bytes[quote...].starts(with: wanted) { return true }
            start = quote + 1
        }
        return false
    }
}
