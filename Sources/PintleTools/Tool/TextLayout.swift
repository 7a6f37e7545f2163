internal import FoundationEssentials
internal import Pintle

/// Fits text into columns. Pins, hashes, hosts, paths and commands are never broken or shortened: they stand
/// outside of what is given here.
enum TextLayout {
    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - columns(of: text)))
    }

    /// Cuts the middle out.
    static func shortened(_ text: String, to width: Int, ellipsis: String) -> String {
        guard columns(of: text) > width else { return text }
        let room = max(2, width - columns(of: ellipsis))
        let scalars = text.unicodeScalars
        let head = fitting(scalars, room - room / 2)
        let tail = fitting(scalars.reversed(), room / 2).reversed()
        return String(String.UnicodeScalarView(head)) + ellipsis + String(String.UnicodeScalarView(tail))
    }

    /// As many from the start as fit. Letter by letter of what is stored: what counts as one character may be a page.
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

    /// Prose in lines of at most `width` columns; words are kept whole.
    static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        var used = 0
        for word in text.split(separator: " ") {
            let size = columns(of: word)
            if used > 0, used + 1 + size > width {
                lines.append(line)
                (line, used) = ("", 0)
            }
            line += used == 0 ? String(word) : " " + word
            used += used == 0 ? size : 1 + size
        }
        if !line.isEmpty || lines.isEmpty { lines.append(line) }
        return lines
    }

    /// As many items as fit on one line, and how many there are beside them.
    ///
    /// - Parameter ellipsis: to cut an item in its middle that is longer than the line; `nil`: it is kept whole.
    static func list(_ items: [String], width: Int, ellipsis: String? = nil) -> String {
        var line = ""
        var used = 0
        for (index, item) in items.enumerated() {
            let rest = items.count - index
            let more = rest > 1 ? ", + \(rest - 1) more".count : 0
            // Of the others none is longer than the line: it would not stand there.
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

    /// How many columns of a terminal it takes: wide letters take two.
    static func columns(of text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + $1.columns }
    }
}

extension Unicode.Scalar {
    /// Columns on a terminal of what is safe to print: two for what East Asian Width (UAX #11) calls wide or fullwidth.
    /// A block that is wide for the most part counts as wide, so that a line is never longer than it was measured.
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

/// Dates for people: the day, and how far away it is.
enum ValidityText {
    /// `2026-11-20`
    static func day(_ date: Date) -> String { String(RFC3339.string(from: date).prefix(10)) }

    /// `2026-11-20 to 2027-02-18, 90 days left`
    static func period(_ validity: Validity, now: Date, palette: Palette) -> String {
        let days = "\(day(validity.notBefore)) to \(day(validity.notAfter)), "
        if now < validity.notBefore {
            return days + palette.warning("begins in \(span(from: now, to: validity.notBefore))")
        }
        guard validity.contains(now) else {
            return days + palette.bad("ended \(span(from: validity.notAfter, to: now)) ago")
        }
        let left = span(from: now, to: validity.notAfter) + " left"
        return days + (isInLastThird(validity, now: now) ? palette.warning(left) : left)
    }

    /// When a renewal is due, as most authorities' clients see it.
    static func lastThird(of validity: Validity) -> Date {
        let lifetime = validity.notAfter.timeIntervalSince(validity.notBefore)
        return validity.notAfter.addingTimeInterval(-lifetime / 3)
    }

    static func isInLastThird(_ validity: Validity, now: Date) -> Bool { now >= lastThird(of: validity) }

    /// In whole units, rounded down: `90 days`, `3 years`.
    static func span(from start: Date, to end: Date) -> String {
        let seconds = max(0, end.timeIntervalSince(start))
        let days = Int(seconds / 86_400)
        return switch days {
        case 730...: counted(Int(Double(days) / 365.2425), "year")
        case 1...: counted(days, "day")
        default: counted(Int(seconds / 3_600), "hour")
        }
    }

    static func counted(_ count: Int, _ unit: String) -> String { count == 1 ? "1 \(unit)" : "\(count) \(unit)s" }
}
