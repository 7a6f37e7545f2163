internal import Pintle

/// Suggestions for misspelled words.
package enum NearestSpelling {
    /// Returns the candidate that `text` most likely misspells, or `nil` if none is close: at most two edits away, and
    /// at most one for words of up to four characters. Case, hyphens and underscores are ignored.
    package static func of(_ text: String, in candidates: [String]) -> String? {
        guard text.utf8.count <= 64 else { return nil }
        let wanted = folded(text)
        var best: (candidate: String, distance: Int)?
        for candidate in candidates {
            let distance = distance(wanted, folded(candidate))
            let limit = candidate.utf8.count <= 4 ? 1 : 2
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.candidate
    }

    private static func folded(_ text: String) -> [UInt8] {
        text.lowercased().utf8.filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: "_") }
    }

    /// Returns the edit distance: insertions, deletions, substitutions and swaps of adjacent characters (optimal string
    /// alignment).
    package static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
        var beforeLast = [Int](repeating: 0, count: right.count + 1)
        var last = Array(0...right.count)
        for row in 1...left.count {
            var current = [row] + [Int](repeating: 0, count: right.count)
            for column in 1...right.count {
                let cost = left[row - 1] == right[column - 1] ? 0 : 1
                current[column] = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + cost)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    current[column] = min(current[column], beforeLast[column - 2] + 1)
                }
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
