/// Fits text into the columns of a terminal.
///
/// Pins, hashes, hosts, paths and commands are never broken or shortened. Callers print them without these functions.
package enum TextLayout {
    package static func withoutTrailingBlanks(_ text: String) -> String {
        var text = text[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }

    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(of: text)))
    }

    /// Replaces the middle of a text that is wider than `width` by the ellipsis.
    package static func shortened(_ text: String, to width: Int, ellipsis: String) -> String {
        guard columns(of: text) > width else { return text }
        let room = max(2, width - columns(of: ellipsis))
        let scalars = text.unicodeScalars
        let head = fitting(scalars, room - room / 2)
        let tail = fitting(scalars.reversed(), room / 2).reversed()
        return String(String.UnicodeScalarView(head)) + ellipsis + String(String.UnicodeScalarView(tail))
    }

    /// Returns as many scalars from the start as fit. It counts scalars because one character may hold thousands of
    /// them.
    private static func fitting(_ scalars: some Sequence<Unicode.Scalar>, _ width: Int) -> [Unicode.Scalar] {
        var left = width
        var fitting: [Unicode.Scalar] = []
        for scalar in scalars {
            left -= scalar.columns
            if left < 0 { break }
            fitting.append(scalar)
        }
        return fitting
    }

    /// Returns as many items as fit on one line, and the number of the others: `a.test, b.test, + 2 more`.
    ///
    /// - Parameter ellipsis: shortens an item that is longer than the line; with `nil` the item stays whole.
    package static func list(_ items: [String], width: Int, ellipsis: String? = nil) -> String {
        var line = ""
        var used = 0
        for (index, item) in items.enumerated() {
            let rest = items.count - index
            let more = rest > 1 ? ", + \(rest - 1) more".count : 0
            // Only the first item can be longer than the line: any other goes to the items that are counted.
            let whole = index == 0 ? item : ", " + item
            let piece =
                ellipsis.map { index > 0 ? whole : shortened(item, to: max(8, width - more), ellipsis: $0) } ?? whole
            let size = columns(of: piece)
            if index > 0, used + size + more > width { return line + ", + \(rest) more" }
            line += piece
            used += size
        }
        return line
    }

    /// Returns the columns that a text takes on a terminal. Wide letters take two.
    package static func columns(of text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + $1.columns }
    }
}

extension String {
    /// The text without the white space around it.
    package var trimmed: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}

extension Unicode.Scalar {
    /// The columns that a printable scalar takes on a terminal: two if East Asian Width (UAX #11) is wide or fullwidth.
    /// A block counts as wide if most of its scalars are, so that a line is never longer than measured.
    fileprivate var columns: Int {
        guard value >= 0x1100 else { return 1 }
        return properties.isEmojiPresentation || Self.wide.contains { $0.contains(value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19,
        0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x1B2FF, 0x1D300...0x1D37F, 0x1F000...0x1FAFF,
        0x20000...0x3FFFD,
    ]
}
