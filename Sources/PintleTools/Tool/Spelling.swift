internal import Pintle

/// A search for the word that a misspelt one stands for.
enum Spelling {
    /// Returns the nearest of `words`, if it is near enough to be the word that the user meant.
    static func nearest(to text: String, among words: [String]) -> String? {
        let limit = max(1, min(3, text.count / 3))
        let typed = Array(text.utf8.prefix(64))
        let candidates = words.map { word in
            (word: word, distance: NearestSpelling.distance(typed, Array(word.utf8)))
        }
        guard let best = candidates.min(by: { $0.distance < $1.distance }), best.distance <= limit else {
            return nil
        }
        return best.word
    }
}
