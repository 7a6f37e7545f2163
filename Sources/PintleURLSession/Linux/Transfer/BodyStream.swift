internal import Foundation
internal import Synchronization

/// A stream as the content of a request, which can be read once.
///
/// Reading a stream may take as long as it likes, and everybody would wait with the transport's thread: so it
/// is read on a queue of its own, two pieces ahead of what is sent and no more.
///
/// `@unchecked`: the stream is touched by `readAhead`, which runs on the serial queue alone, and by `deinit`,
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

    /// Whether all of it is still there, for whichever request comes.
    var isWhole: Bool { state.withLock { !$0.hasGiven } }

    /// Who is told, on any thread, that there is something to read again.
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
        // What a subclass says may be anything, more than it wrote too: then there are zeros, and nobody's memory.
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
