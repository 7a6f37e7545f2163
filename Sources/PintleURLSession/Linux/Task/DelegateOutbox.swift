internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// A queue of the callbacks of one task. It calls the delegate on the session's delegate queue, in order, and the
/// completion last.
///
/// Content that arrives while a piece is still queued joins that piece, so a slow delegate gets fewer and larger
/// pieces. Beyond ``backlogLimit`` the transfer has to pause (back-pressure).
///
/// Safe to use from any thread. No lock is held while the delegate runs.
final class DelegateOutbox: Sendable {
    typealias Callback = @Sendable (_ session: URLSession, _ task: URLSessionTask) -> Void

    /// A piece of content that waits for the delegate.
    struct ContentPiece: Sendable {
        /// The content, or empty if the content is already in a file.
        var data: Data
        var count: Int
        /// The number of bytes from the beginning of the content to the end of this piece.
        var received: Int64
        fileprivate var cost: Int
    }

    /// A count of sent bytes of one transfer, for `didSendBodyData`.
    struct SentPiece: Sendable {
        var count: Int64
        var total: Int64
        var expected: Int64
    }

    private struct State {
        weak var task: URLSessionTask?
        var delegate: (any URLSessionTaskDelegate)?
        /// The queued pieces. Each has a callback in the delegate queue.
        var pieces: [ContentPiece] = []
        /// A Boolean value that indicates whether the last piece is the newest callback, so that more content may join
        /// it.
        var isLastPieceOpen = false
        /// The cost of all queued pieces.
        var backlog = 0
        var sent: [SentPiece] = []
        /// A Boolean value that indicates whether the completion has run.
        var isClosed = false

        /// - Returns: `true` if the content has joined the last piece, whose callback is already queued.
        mutating func append(_ data: Data?, count: Int, received: Int64) -> Bool {
            if isLastPieceOpen, let last = pieces.indices.last {
                if let data { pieces[last].data.append(data) }
                pieces[last].count += count
                pieces[last].received = received
                pieces[last].cost += count
                backlog += count
                return true
            }
            let cost = max(count, DelegateOutbox.pieceCost)
            pieces.append(ContentPiece(data: data ?? Data(), count: count, received: received, cost: cost))
            backlog += cost
            isLastPieceOpen = true
            return false
        }
    }

    /// The limit of the backlog in bytes. A piece costs at least ``pieceCost``, because a server may send its content
    /// byte by byte.
    static let backlogLimit = 1 << 20
    private static let pieceCost = 1 << 10

    private let session: URLSession
    private let state = Mutex(State())

    init(_ session: URLSession) {
        self.session = session
    }

    /// The task that the delegate's callbacks are about. The outbox does not keep it alive.
    var task: URLSessionTask? {
        get { state.withLock { $0.task } }
        set { state.withLock { $0.task = newValue } }
    }

    /// The task's own delegate, which overrides the session's.
    var taskDelegate: (any URLSessionTaskDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            // Release the old delegate outside the lock: its `deinit` may call methods of the task.
            _ = state.withLock { state in
                defer { state.delegate = newValue }
                return state.delegate
            }
        }
    }

    /// The task's own delegate, or else the session's.
    var delegate: (any URLSessionTaskDelegate)? { taskDelegate ?? session.delegate as? any URLSessionTaskDelegate }

    // MARK: Callbacks

    /// Runs a callback on the delegate queue. A callback that is still queued when the completion runs is dropped.
    func send(_ callback: @escaping Callback) {
        state.withLock { $0.isLastPieceOpen = false }
        enqueue(callback)
    }

    /// Queues a piece of content for the delegate.
    ///
    /// - Parameters:
    ///   - data: The content, or `nil` if it is already in a file.
    ///   - count: The size of the piece in bytes.
    ///   - received: The bytes of content so far, including this piece.
    ///   - deliver: A closure that calls the delegate. It may get more than this piece.
    ///   - relieve: A closure that runs once the backlog is within its limit again.
    /// - Returns: `true` if the backlog is over its limit.
    func sendContent(
        _ data: Data?, count: Int, received: Int64,
        to deliver: @escaping @Sendable (ContentPiece, URLSession, URLSessionTask) -> Void,
        relieve: @escaping @Sendable () -> Void
    ) -> Bool {
        let (hasJoined, isFull) = state.withLock { state in
            (state.append(data, count: count, received: received), state.backlog > Self.backlogLimit)
        }
        guard !hasJoined else { return isFull }
        enqueue { [self] session, task in
            let first = state.withLock { state in state.pieces.isEmpty ? nil : state.pieces.removeFirst() }
            guard let piece = first else { return }
            deliver(piece, session, task)
            let isRelieved = state.withLock { state in
                defer { state.backlog -= piece.cost }
                return state.backlog > Self.backlogLimit && state.backlog - piece.cost <= Self.backlogLimit
            }
            if isRelieved { relieve() }
        }
        return isFull
    }

    /// Queues progress of an upload for the delegate. Progress is coalesced: however slow the delegate is, at most one
    /// such callback for each transfer is queued.
    ///
    /// - Parameters:
    ///   - count: The number of bytes sent.
    ///   - progress: The progress of the task, including these bytes.
    ///   - deliver: A closure that calls the delegate. It may get more than these bytes.
    func sendSentBytes(
        _ count: Int64, _ progress: TaskProgress,
        to deliver: @escaping @Sendable (SentPiece, URLSession, URLSessionTask) -> Void
    ) {
        let hasJoined = state.withLock { state in
            if progress.sent > count, let last = state.sent.indices.last {
                state.sent[last].count += count
                (state.sent[last].total, state.sent[last].expected) = (progress.sent, progress.expectedToSend)
                return true
            }
            state.isLastPieceOpen = false
            state.sent.append(SentPiece(count: count, total: progress.sent, expected: progress.expectedToSend))
            return false
        }
        guard !hasJoined else { return }
        enqueue { [self] session, task in
            let first = state.withLock { state in state.sent.isEmpty ? nil : state.sent.removeFirst() }
            if let piece = first { deliver(piece, session, task) }
        }
    }

    /// Runs the completion behind all queued callbacks. Callbacks that are queued later are dropped.
    ///
    /// - Parameter isQueued: `false` for an async call, which does not wait for its delegate: its completion runs at
    ///   once.
    func close(isQueued: Bool, _ completion: @escaping @Sendable () -> Void) {
        let close: @Sendable () -> Void = { [self] in state.withLock { $0.isClosed = true } }
        guard isQueued else {
            if delegate != nil { session.delegateQueue.addOperation(close) }
            return completion()
        }
        session.delegateQueue.addOperation {
            close()
            completion()
        }
    }

    private func enqueue(_ callback: @escaping Callback) {
        guard let task else { return }
        session.delegateQueue.addOperation { [self] in
            guard !state.withLock({ $0.isClosed }) else { return }
            callback(session, task)
        }
    }
}
