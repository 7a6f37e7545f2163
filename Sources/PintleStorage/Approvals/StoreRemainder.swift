internal import Pintle

/// Distinguishes a damaged store from a file that was never a store.
///
/// A mistyped path may lead to a policy or a private key, and the store must not move such a file. If a damaged store
/// is not recognized, the error asks the owner to move it.
enum StoreRemainder {
    static func isOne(_ bytes: [UInt8]) -> Bool {
        // An empty file, or the zeros that some file systems leave after a loss of power. Moving it loses nothing.
        if bytes.allSatisfy({ $0 == 0 }) { return true }
        // Truncated near the start.
        if head.starts(with: bytes) || bytes.starts(with: head) { return true }
        // Truncated later, cut at its start, or damaged in the middle. No other file contains both words of a pair.
        // Only the ends of the file are searched, because this may run inside a handshake.
        return [bytes.prefix(searched), bytes.suffix(searched)].contains { part in
            holds("generation", part) && holds("approvals", part) || holds("approvedAt", part) && holds("accepts", part)
        }
    }

    private static let searched = 65_536

    /// The start of every store's file, up to the first number that differs.
    private static let head = Array(
        TrustApprovals.none.json().prefix { $0 != UInt8(ascii: "0") })

    /// Returns whether the bytes contain a JSON string, in the notation that a store writes.
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
