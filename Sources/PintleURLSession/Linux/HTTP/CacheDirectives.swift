/// The directives of `Cache-Control` (RFC 9111 section 5.2), by lower-case name. Parts that do not fit the grammar are
/// skipped.
struct CacheDirectives {
    private(set) var values: [String: String] = [:]

    /// - Parameter fields: The values of the field, each of any length.
    init(_ fields: [String]) {
        for field in fields {
            var isQuoted = false
            // A comma in a quoted string is not a separator.
            let parts = field.utf8.split { byte in
                if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                return byte == UInt8(ascii: ",") && !isQuoted
            }
            for part in parts {
                let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                let name = Self.text(pair.first).lowercased()
                if !name.isEmpty, values[name] == nil { values[name] = pair.count > 1 ? Self.text(pair.last) : "" }
            }
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// Returns the seconds of a directive. A number that is too great becomes 2^31, as RFC 9111 section 1.2.2 requires.
    /// An invalid number becomes 0, which means stale.
    func seconds(_ name: String) -> Int? {
        guard let text = values[name] else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return 0 }
        return min(Int(text) ?? Self.limit, Self.limit)
    }

    private static let limit = 1 << 31

    private static func text(_ bytes: Substring.UTF8View?) -> String {
        String(Substring(bytes ?? Substring().utf8)).trimmed { " \t\"".utf8.contains($0) }
    }
}

extension String {
    fileprivate func trimmed(_ isDropped: (UInt8) -> Bool) -> String {
        var rest = Array(utf8)[...].drop(while: isDropped)
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }
}
