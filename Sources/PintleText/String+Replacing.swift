extension String {
    /// Returns the text with another one in each place of `part`, which is not empty. Swift's own method needs macOS 13.
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
