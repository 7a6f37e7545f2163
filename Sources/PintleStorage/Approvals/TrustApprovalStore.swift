public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Remembers what people have said about servers: in a file, or for the life of the process.
///
///     let store = try TrustApprovalStore(path: folder + "/trust.json")
///     let session = URLSession.pinned(to: policy, approvals: store)
///
/// Each change is a new generation: connections that an approval was good for carry no new request once it is revoked.
/// Several processes may use one file; what one has changed counts for the next decision of the others.
///
/// Safe to use from any thread. Looking up costs one system call where the file has not changed, and waits for no other
/// process.
/// A change waits for the disk, and at most ten seconds for another process.
public final class TrustApprovalStore: Sendable {
    private let state: Locked<StoreState>
    private let file: DurableFile?
    private let onEvent: @Sendable (TrustStoreEvent) -> Void

    /// A store in memory, empty: for tests, and for what is to be forgotten.
    public init() {
        file = nil
        state = Locked(StoreState())
        onEvent = { _ in }
    }

    /// The store in a file, which need not be there yet. Nothing is written before the first change.
    ///
    /// A store that is damaged opens: nobody is approved, ``problem`` says so, and the first change sets the file aside,
    /// as `path.corrupt`. Until somebody has moved that away, a certificate that has changed cannot be told from a
    /// first contact: ``UnknownHost/approvalRecord``.
    ///
    /// - Parameters:
    ///   - path: the file. Beside it a change makes `path.lock`, which stays, and `path.new`, which does not.
    ///   - onEvent: called on whatever thread looked or changed, also inside a handshake: it must return at once.
    /// - Throws: ``TrustStoreError`` where there is something that cannot be used: a folder, a symbolic link or a pipe,
    ///   a file that cannot be read, that is larger than 16 MiB, that belongs to somebody else, that others may write
    ///   into, that a later release wrote, or that does not look like a store, not even like a damaged one.
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

    /// What counts now. Where the file cannot be used: nothing, and ``problem`` says why. ``TrustApprovals/record`` says
    /// whether it is everything that was ever approved.
    public var approvals: TrustApprovals { current.approvals }

    /// Why nothing counts, as of the last look; `nil` where everything is in order.
    public var problem: TrustStoreError? { state.withLock { $0.problem } }

    package var current: StoreSnapshot {
        guard let file else { return state.withLock { $0.snapshot } }
        return look(at: file, under: nil).snapshot
    }

    /// What a person has decided about a server, whether it still counts or not.
    public subscript(endpoint: ServerEndpoint) -> TrustApproval? { approvals[endpoint] }

    // MARK: Changing

    /// Remembers the yes to a question.
    ///
    /// - Parameters:
    ///   - host: the question that the person answered.
    ///   - subject: what the approval is bound to.
    ///   - exceptions: failures beyond `self-signed` and `untrusted-root` that the person was shown and accepts, for an
    ///     approval of the certificate only. See `UnknownHost.exceptionsOfCertificate`.
    ///   - instant: when the person answered.
    ///   - expiry: when the approval ends; `nil` for never.
    ///   - note: a text that a list of approvals shows.
    ///   - acceptsIncompleteRecord: true where the person was told that the store was damaged or lost, so that the server
    ///     may have been known with another certificate, and said yes all the same.
    /// - Throws: ``TrustStoreError/approval(_:)`` as ``TrustApprovals`` does, with
    ///   ``TrustApprovalError/incompleteRecord(_:)`` after such a loss, also where another process has said something about
    ///   the server since it was shown; or why the file was not changed.
    @discardableResult
    public func approve(
        _ host: UnknownHost, as subject: UnknownHost.Subject = .certificate,
        alsoAccepting exceptions: Set<TrustApproval.AcceptedFailure> = [], at instant: Date = Date(),
        until expiry: Date? = nil, note: String? = nil, acceptingIncompleteRecord acceptsIncompleteRecord: Bool = false
    ) throws(TrustStoreError) -> TrustApproval {
        try change { approvals throws(TrustApprovalError) in
            try approvals.approve(
                host, as: subject, alsoAccepting: exceptions, at: instant, until: expiry, note: note,
                acceptingIncompleteRecord: acceptsIncompleteRecord)
        }
    }

    /// Adds an approval, unless another certificate or key is approved for the server: a changed key is no question.
    public func approve(_ approval: TrustApproval) throws(TrustStoreError) {
        try change { approvals throws(TrustApprovalError) in try approvals.approve(approval) }
    }

    /// Adds an approval in the place of any other: for somebody who brings the new fingerprint.
    public func replace(_ approval: TrustApproval) throws(TrustStoreError) {
        try change { approvals throws(TrustApprovalError) in approvals.replace(approval) }
    }

    /// Takes back what was approved for a server.
    ///
    /// - Returns: what was revoked; `nil` where there was nothing to revoke.
    @discardableResult
    public func revoke(_ endpoint: ServerEndpoint, at instant: Date = Date()) throws(TrustStoreError) -> TrustApproval?
    {
        try change { approvals throws(TrustApprovalError) in approvals.revoke(endpoint, at: instant) }
    }
}

// MARK: Look, change, write

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
        // Read under the lock, so that no change of another process is lost.
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
