internal import Foundation

/// Content that waits until libcurl has no more in this turn of the loop, so that the task gets one event for all of it.
/// libcurl delivers content in TLS records of at most 16 KiB.
struct GatheredContent {
    /// The number of bytes after which gathered content is handed over at once.
    static let limit = 256 << 10
    private static let firstCapacity = 64 << 10
    /// The size in bytes of a record after which more records are likely to follow.
    private static let likelyFullRecord = 8 << 10

    private var bytes = Data()

    var isEmpty: Bool { bytes.isEmpty }
    var isFull: Bool { bytes.count >= Self.limit }

    mutating func append(_ piece: UnsafeRawBufferPointer) {
        if bytes.isEmpty {
            if piece.count >= Self.likelyFullRecord { bytes.reserveCapacity(Self.firstCapacity) }
        } else if bytes.count <= Self.firstCapacity, bytes.count + piece.count > Self.firstCapacity {
            // In one step, because each step copies what was gathered before.
            bytes.reserveCapacity(Self.limit + Self.firstCapacity)
        }
        bytes.append(contentsOf: piece)
    }

    @discardableResult
    mutating func removeAll() -> Data {
        defer { bytes = Data() }
        return bytes
    }
}
