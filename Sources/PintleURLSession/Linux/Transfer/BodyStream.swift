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
        /// The announced bytes that are still to be read; `nil` if their number is unknown.
        var rest: Int64?
        /// A Boolean value that indicates whether the stream has more than the announced bytes.
        var isTooLong = false
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

    /// A Boolean value that indicates whether the stream was seen to have more than the announced bytes.
    var isTooLong: Bool { state.withLock(\.isTooLong) }

    /// Announces the length in bytes, before the first byte is read.
    ///
    /// A longer stream fails, and so must its request: the server would take the announced part for the whole. But the
    /// announced bytes never wait for the stream's end, because apps keep a stream open until the response.
    func announce(_ size: Int64) {
        let isEmpty = state.withLock { state in
            guard state.rest == nil else { return false }
            state.rest = size
            state.isReading = state.isReading || size == 0
            return size == 0
        }
        // libcurl asks for no byte of it.
        if isEmpty { queue.async { self.readExcess() } }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyReader.Piece {
        let (result, wantsMore) = state.withLock { state -> (BodyReader.Piece, Bool) in
            if state.isTooLong { return (.excess, false) }
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
        // One byte more than announced, so that a stream that has it at hand is refused before its last byte is sent.
        let rest = state.withLock(\.rest).map { Int(min($0, Int64(Self.pieceSize))) }
        var buffer = [UInt8](repeating: 0, count: rest.map { $0 + 1 } ?? Self.pieceSize)
        let count = stream.read(&buffer, maxLength: buffer.count)
        // A subclass of the app's may return any count, even more than it wrote. The prefix keeps the result inside the
        // buffer: a wrong count sends zeros, never other memory.
        let piece = buffer.prefix(max(0, count))
        let callback = state.withLock { state -> (@Sendable () -> Void)? in
            state.isReading = false
            state.hasFailed = count < 0
            state.isOver = count <= 0
            if let rest = state.rest {
                state.isTooLong = piece.count > rest
                state.rest = max(0, rest - Int64(piece.count))
                state.isOver = state.isOver || state.rest == 0
            }
            state.ready = state.ready.isEmpty ? piece : state.ready + piece
            defer { state.isAwaited = false }
            return state.isAwaited ? state.whenReady : nil
        }
        callback?()
        if state.withLock({ $0.rest == 0 && !$0.isTooLong && $0.isOver }), count > 0 { readExcess() }
    }

    /// Looks for a byte behind the announced ones. This may block, but the announced ones are ready by now.
    private func readExcess() {
        if stream.streamStatus == .notOpen { stream.open() }
        var byte: UInt8 = 0
        guard stream.hasBytesAvailable, stream.read(&byte, maxLength: 1) > 0 else { return }
        let callback = state.withLock { state in
            state.isTooLong = true
            return state.whenReady
        }
        callback?()
    }
}
