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
    /// The bytes of decoded content, handed over or gathered.
    private(set) var received: Int64 = 0

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count }

    mutating func append(_ piece: UnsafeRawBufferPointer) {
        if bytes.isEmpty {
            if piece.count >= Self.likelyFullRecord { bytes.reserveCapacity(Self.firstCapacity) }
        } else if bytes.count <= Self.firstCapacity, bytes.count + piece.count > Self.firstCapacity {
            // In one step, because each step copies what was gathered before.
            bytes.reserveCapacity(Self.limit + Self.firstCapacity)
        }
        bytes.append(contentsOf: piece)
        received += Int64(piece.count)
    }

    /// Removes and returns the next piece for the task: everything, unless it is long.
    mutating func removePiece() -> Data {
        guard bytes.count > 2 * Self.limit else {
            defer { bytes = Data() }
            return bytes
        }
        defer { bytes = bytes.dropFirst(Self.limit) }
        // A copy, so that the piece does not keep the rest in memory.
        return Data(bytes.prefix(Self.limit))
    }

    mutating func removeAll() { bytes = Data() }
}
