/// A check of `ETag` values (RFC 9110 section 8.8.3).
enum EntityTag {
    /// Longer tags cost more than they save.
    private static let maximumBytes = 256

    /// Returns whether a text is exactly one entity tag.
    ///
    /// Any other text must not be sent as `If-None-Match`. With `*`, every server answers "not modified". A list may
    /// contain the tags of future documents. With a control character the request fails. Each of these would block
    /// updates long after the attacker who sent the value is gone.
    static func isOne(_ text: String) -> Bool {
        guard text.utf8.count <= maximumBytes else { return false }
        let opaque = text.hasPrefix("W/") ? text.utf8.dropFirst(2) : text.utf8[...]
        guard opaque.count >= 2, opaque.first == UInt8(ascii: "\""), opaque.last == UInt8(ascii: "\"") else {
            return false
        }
        return opaque.dropFirst().dropLast().allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") }
    }
}
