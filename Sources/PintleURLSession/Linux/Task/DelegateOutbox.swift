internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Calls the delegate of one task on the session's delegate queue, in order, and the completion last.
///
/// Content that arrives while a piece waits in the queue joins that piece: a delegate that is slower than the network gets
/// larger pieces, and fewer. Beyond ``backlogLimit`` the transfer has to pause. Safe to use from any thread; no lock is held
/// while the delegate runs.
final class DelegateOutbox: Sendable {
    typealias Callback = @Sendable (_ session: URLSession, _ task: URLSessionTask) -> Void

    /// Content that waits for the delegate.
    struct ContentPiece: Sendable {
        /// Empty where the content is in a file already.
        var data: Data
        var count: Int
        /// Bytes of content from the beginning up to the end of this piece.
        var received: Int64
        fileprivate var cost: Int
    }

    /// Content of one transfer that was sent, for `didSendBodyData`.
    struct SentPiece: Sendable {
        var count: Int64
        var total: Int64
        var expected: Int64
    }

    private struct State {
        weak var task: URLSessionTask?
        var delegate: (any URLSessionTaskDelegate)?
        /// A callback for each of them waits in the queue.
        var pieces: [ContentPiece] = []
        /// A Boolean value that indicates whether no other callback came after the last piece, so that more may join it.
        var isLastPieceOpen = false
        /// The cost of all pieces.
        var backlog = 0
        var sent: [SentPiece] = []
        /// A Boolean value that indicates whether the completion has run.
        var isClosed = false

        /// - Returns: `true` where the content has joined the last piece, whose callback waits already.
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

    /// In bytes. A piece costs at least ``pieceCost``, because a server may send its content byte by byte.
    static let backlogLimit = 1 << 20
    private static let pieceCost = 1 << 10

    private let session: URLSession
    private let state = Mutex(State())

    init(_ session: URLSession) {
        self.session = session
    }

    /// The task that the delegate is told about. It is not kept alive.
    var task: URLSessionTask? {
        get { state.withLock { $0.task } }
        set { state.withLock { $0.task = newValue } }
    }

    /// The task's own delegate, which hides the session's.
    var taskDelegate: (any URLSessionTaskDelegate)? {
        get { state.withLock { $0.delegate } }
        set {
            // The old delegate is released after the lock: its `deinit` may ask the task something.
            _ = state.withLock { state in
                defer { state.delegate = newValue }
                return state.delegate
            }
        }
    }

    /// The task's own delegate, or else the session's.
    var delegate: (any URLSessionTaskDelegate)? { taskDelegate ?? session.delegate as? any URLSessionTaskDelegate }

    // MARK: Callbacks

    /// Runs a callback on the delegate queue, unless the completion runs before it.
    func send(_ callback: @escaping Callback) {
        state.withLock { $0.isLastPieceOpen = false }
        enqueue(callback)
    }

    /// Hands a piece of content to the delegate.
    ///
    /// - Parameters:
    ///   - data: `nil` where the content is in a file already.
    ///   - count: in bytes.
    ///   - received: bytes of content so far, these included.
    ///   - deliver: calls the delegate; it may get more than this piece.
    ///   - relieve: runs once the backlog is within its limit again.
    /// - Returns: `true` where the backlog is beyond its limit.
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

    /// Tells the delegate what was sent. However slow the delegate is, one callback for each transfer waits for it.
    ///
    /// - Parameters:
    ///   - count: in bytes.
    ///   - progress: these bytes included.
    ///   - deliver: calls the delegate; it may get more than this piece.
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

    /// Runs the completion, behind all callbacks that wait in the queue. No later callback runs.
    ///
    /// - Parameter isQueued: `false` for an async call, which does not wait for its delegate: the completion runs at once.
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
