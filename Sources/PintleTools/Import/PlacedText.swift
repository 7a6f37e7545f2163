internal import Pintle

/// The characters of a file, read one by one, with the place of the next one.
struct PlacedText {
    private let scalars: [Unicode.Scalar]
    private var index = 0
    private(set) var place = TextPlace(line: 1, column: 1)

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    /// Returns the next character, or one behind it, without reading it.
    func peek(_ distance: Int = 0) -> Unicode.Scalar? {
        let position = index + distance
        return position < scalars.count ? scalars[position] : nil
    }

    @discardableResult
    mutating func pop() -> Unicode.Scalar? {
        guard let scalar = peek() else { return nil }
        index += 1
        place =
            scalar == "\n"
            ? TextPlace(line: place.line + 1, column: 1)
            : TextPlace(line: place.line, column: place.column + 1)
        return scalar
    }
}
