internal import Foundation
internal import Synchronization

/// A stream as the content of a request. It can be read once.
///
/// Reading a stream may block, and the transport's thread runs all transfers. So a queue of its own reads the stream,
/// at most two pieces ahead of what was sent.
///
/// `@unchecked`: only `readAhead` and `deinit` use the stream. `readAhead` runs on the serial queue, and `deinit` runs
/// after the last `readAhead`, because each holds this object. A lock protects the other state.
final class BodyStream: @unchecked Sendable {
    private struct State {
        var ready: ArraySlice<UInt8> = []
        var isReading = false
        var isOver = false
        var hasFailed = false
        var isAwaited = false
        var isBegun = false
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

    /// A Boolean value that indicates whether no byte was read yet, so that a request can still send the whole stream.
    var isWhole: Bool { state.withLock { !$0.isBegun } }

    /// Sets the callback, which runs on any thread once there are bytes to read again.
    func whenReady(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenReady = action }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyReader.Piece {
        let (result, wantsMore) = state.withLock { state -> (BodyReader.Piece, Bool) in
            let piece = state.ready.prefix(buffer.count)
            buffer.copyBytes(from: piece)
            state.ready = state.ready.dropFirst(piece.count)
            let wantsMore = !state.isReading && !state.isOver && state.ready.count < Self.pieceSize
            state.isReading = state.isReading || wantsMore
            if piece.isEmpty {
                guard state.isOver else {
                    state.isAwaited = true
                    return (.later, wantsMore)
                }
                return (state.hasFailed ? .failed : .bytes(0), false)
            }
            state.isBegun = true
            return (.bytes(piece.count), wantsMore)
        }
        if wantsMore { queue.async { self.readAhead() } }
        return result
    }

    private func readAhead() {
        if stream.streamStatus == .notOpen { stream.open() }
        var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
        let count = stream.read(&buffer, maxLength: buffer.count)
        // A subclass of the app's may return any count, even more than it wrote. The prefix keeps the result inside the
        // buffer: a wrong count sends zeros, never other memory.
        let piece = buffer.prefix(max(0, count))
        let callback = state.withLock { state -> (@Sendable () -> Void)? in
            state.isReading = false
            state.hasFailed = count < 0
            state.isOver = count <= 0
            state.ready = state.ready.isEmpty ? piece : state.ready + piece
            defer { state.isAwaited = false }
            return state.isAwaited ? state.whenReady : nil
        }
        callback?()
    }
}
