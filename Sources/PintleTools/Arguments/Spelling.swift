/// Finds the word that was meant.
enum Spelling {
    /// The nearest of `words`, if it is near enough that whoever typed `text` may have meant it.
    static func nearest(to text: String, among words: [String]) -> String? {
        let limit = max(1, min(3, text.count / 3))
        let candidates = words.map { (word: $0, distance: distance(text, $0)) }
        guard let best = candidates.min(by: { $0.distance < $1.distance }), best.distance <= limit else {
            return nil
        }
        return best.word
    }

    /// Letters to add, drop, change, or swap with their neighbour.
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first.utf8.prefix(64)), Array(second.utf8.prefix(64)))
        var beforeLast: [Int] = []
        var last = Array(0...second.count)
        for row in 0..<first.count {
            var next = [row + 1]
            for column in 0..<second.count {
                let isSame = first[row] == second[column]
                var best = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                next.append(best)
            }
            (beforeLast, last) = (last, next)
        }
        return last[second.count]
    }
}
