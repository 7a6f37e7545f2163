internal import Foundation
internal import Synchronization

/// A stream as the content of a request, which can be read once.
///
/// Reading a stream may block, and all transfers would wait with the transport's thread. So the stream is read on a queue
/// of its own, at most two pieces ahead of what is sent.
///
/// `@unchecked`: the stream is touched by `readAhead`, which runs only on the serial queue, and by `deinit`,
/// which comes after the last of them, since each holds this object. What else changes is behind the lock.
final class BodyStream: @unchecked Sendable {
    private struct State {
        var ready: ArraySlice<UInt8> = []
        var isReading = false
        var isOver = false
        var hasFailed = false
        var isAwaited = false
        var hasGiven = false
        var whenReady: (@Sendable () -> Void)?
    }

    private static let pieceSize = 128 << 10

    private let stream: InputStream
    private let queue = DispatchQueue(label: "pintle.body")
    private let state = Mutex(State())

    init(_ stream: InputStream) {
        self.stream = stream
    }

    deinit {
        stream.close()
    }

    /// A Boolean value that indicates whether nothing was read yet, so that any request can send all of it.
    var isWhole: Bool { state.withLock { !$0.hasGiven } }

    /// Sets the callback, which runs on any thread once there is something to read again.
    func whenReady(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenReady = action }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyReader.Piece {
        let (piece, wantsMore) = state.withLock { state -> (BodyReader.Piece, Bool) in
            let given = state.ready.prefix(buffer.count)
            buffer.copyBytes(from: given)
            state.ready = state.ready.dropFirst(given.count)
            let wantsMore = !state.isReading && !state.isOver && state.ready.count < Self.pieceSize
            state.isReading = state.isReading || wantsMore
            if given.isEmpty {
                guard state.isOver else {
                    state.isAwaited = true
                    return (.later, wantsMore)
                }
                return (state.hasFailed ? .failed : .bytes(0), false)
            }
            state.hasGiven = true
            return (.bytes(given.count), wantsMore)
        }
        if wantsMore { queue.async { self.readAhead() } }
        return piece
    }

    private func readAhead() {
        if stream.streamStatus == .notOpen { stream.open() }
        var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
        let count = stream.read(&buffer, maxLength: buffer.count)
        // A subclass may return any count, also a larger one than it wrote. Then zeros are sent, and no other memory.
        let piece = buffer.prefix(max(0, count))
        let whoWaits = state.withLock { state -> (@Sendable () -> Void)? in
            state.isReading = false
            state.hasFailed = count < 0
            state.isOver = count <= 0
            state.ready = state.ready.isEmpty ? piece : state.ready + piece
            defer { state.isAwaited = false }
            return state.isAwaited ? state.whenReady : nil
        }
        whoWaits?()
    }
}
