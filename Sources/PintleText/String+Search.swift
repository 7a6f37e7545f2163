// Swift's own methods with these names need macOS 13.

extension StringProtocol {
    /// Returns whether the bytes of the other text, in UTF-8, are somewhere in this one.
    package func contains(_ part: String) -> Bool {
        let part = Array(part.utf8)
        guard let first = part.first else { return true }
        var rest = utf8[...]
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: part) { return true }
            rest = rest.dropFirst()
        }
        return false
    }
}

extension String {
    /// Returns the text with another one in each place of `part`, which is not empty.
    package func replacing(_ part: String, with other: String) -> String {
        var (result, rest) = ("", self[...])
        let count = part.count
        while let first = rest.first {
            if rest.hasPrefix(part) {
                result += other
                rest = rest.dropFirst(count)
            } else {
                result.append(first)
                rest.removeFirst()
            }
        }
        return result
    }
}
