/// The values of `ETag` (RFC 9110 section 8.8.3).
enum EntityTag {
    /// Longer ones cost more than they save.
    private static let maximumBytes = 256

    /// Whether a text is one tag and nothing else.
    ///
    /// What is not must not become a value of `If-None-Match`: a `*` there has every server answer that nothing has changed,
    /// a list may name the documents of tomorrow, and a control character keeps the question from being asked at all. Each
    /// would hold updates back long after whoever sent it is gone.
    static func isOne(_ text: String) -> Bool {
        guard text.utf8.count <= maximumBytes else { return false }
        let opaque = text.hasPrefix("W/") ? text.utf8.dropFirst(2) : text.utf8[...]
        guard opaque.count >= 2, opaque.first == UInt8(ascii: "\""), opaque.last == UInt8(ascii: "\"") else {
            return false
        }
        return opaque.dropFirst().dropLast().allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") }
    }
}
