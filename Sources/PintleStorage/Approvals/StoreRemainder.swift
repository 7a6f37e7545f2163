internal import Pintle

/// Tells what is left of a store from a file that was never one.
///
/// A path that was mistyped leads to a policy or to somebody's key: that is not ours to move. Where this does not know a
/// store again, its owner is told to move it.
enum StoreRemainder {
    static func isOne(_ bytes: [UInt8]) -> Bool {
        // Nothing, or the zeros that some file systems leave after a loss of power: nobody misses them.
        if bytes.allSatisfy({ $0 == 0 }) { return true }
        // Cut off early.
        if head.starts(with: bytes) || bytes.starts(with: head) { return true }
        // Cut off later, at its start, or damaged in the middle. Nothing else has both words of either pair. This may
        // happen inside of a handshake: the ends of the file are enough.
        return [bytes.prefix(searched), bytes.suffix(searched)].contains { part in
            holds("generation", part) && holds("approvals", part) || holds("approvedAt", part) && holds("accepts", part)
        }
    }

    private static let searched = 65_536

    /// How every file begins that was written here, up to the first number that differs.
    private static let head = Array(
        TrustApprovals.none.json().prefix { $0 != UInt8(ascii: "0") })

    /// Whether a JSON string stands somewhere, spelt as it is written here.
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
