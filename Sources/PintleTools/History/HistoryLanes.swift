internal import Pintle
internal import PintleSystem

/// An SVG drawing with one lane for each server: its leaf certificates, intermediates and roots over the days of the
/// results. It has its own labels and takes its colours from the page.
struct HistoryLanes {
    private let entries: [HistoryEntry]
    private let span: ClosedRange<Date>
    /// Tells the patterns of several drawings on one page apart.
    private let number: Int
    private var lines: [String] = []
    private var y = 30.0

    private static let left = 110.0
    private static let right = 940.0
    private static let width = 960.0
    /// The boxes of one row, and the marks of one lane, at most; the newest are drawn.
    static let mostBoxes = 300

    /// - Parameter span: the instants at the left and right ends of the drawing.
    init(_ entries: some Sequence<HistoryEntry>, span: ClosedRange<Date>, number: Int) {
        (self.entries, self.span, self.number) = (Array(entries), span, number)
    }

    var svg: String {
        var drawing = self
        for entry in entries { drawing.draw(entry) }
        let ends = "\(ValidityText.day(span.lowerBound)) to \(ValidityText.day(span.upperBound))"
        return SVG.drawing(
            width: Self.width, height: drawing.y,
            label: "The keys of \(ValidityText.counted(entries.count, "server")) from \(ends)", stripes: "gap\(number)",
            axis(bottom: drawing.y) + drawing.lines)
    }

    // MARK: A lane

    private mutating func draw(_ entry: HistoryEntry) {
        let top = y
        let name = entry.server.description
        let shown = TextLayout.shortened(name, to: 90, ellipsis: "…")
        lines.append(SVG.titled(name, SVG.text(shown, x: 4, y: top + 14, "server")))
        let observations = entry.history.observations
        draw(row: "leaf", at: top + 22, height: 18, observations, ofKey: \.leafKey, ofBox: \.leafCertificate)
        draw(
            row: "intermediates", at: top + 45, height: 9, observations, ofKey: \.intermediates, ofBox: \.intermediates)
        let rooted = observations.filter { $0.root != nil }
        draw(row: "root", at: top + 59, height: 9, rooted, ofKey: \.root, ofBox: \.root)
        draw(entry.history.gaps, top: top + 20, bottom: top + 70)
        draw(asked: observations, at: top + 75)
        y = top + 84
        draw(entry.statuses.died, top: top + 18)
        y += 12
    }

    /// Draws a box from the first to the last observation of each value. Its colour changes with the key.
    private mutating func draw<Key: Equatable, Box: Equatable>(
        row: String, at y: Double, height: Double, _ observations: [KeyObservation],
        ofKey key: (KeyObservation) -> Key, ofBox box: (KeyObservation) -> Box
    ) {
        lines.append(SVG.text(row, x: 4, y: y + height - (height > 10 ? 4 : 0), "label"))
        var boxes: [(first: KeyObservation, last: KeyObservation, colour: Int)] = []
        for observation in observations {
            guard let last = boxes.last else {
                boxes.append((observation, observation, 0))
                continue
            }
            if box(last.last) == box(observation) {
                boxes[boxes.count - 1].last = observation
            } else {
                let colour = key(last.last) == key(observation) ? last.colour : 1 - last.colour
                boxes.append((observation, observation, colour))
            }
        }
        let drawn = boxes.suffix(Self.mostBoxes)
        if let first = drawn.first, let last = drawn.last {
            let middle = y + height / 2
            lines.append(SVG.line(x(first.first.instant), middle, x(last.last.instant), middle, "base"))
        }
        for box in drawn {
            let start = min(x(box.first.instant), Self.right - 3)
            let width = max(3, x(box.last.instant) - start)
            let label = Self.label(row, box.first, columns: Int((width - 12) / 8))
            lines.append(
                SVG.titled(
                    SafeText.claim(Self.title(row, box.first, box.last)),
                    SVG.rectangle(
                        x: start, y: y, width: width, height: height, "rx=\"3\" class=\"key\(box.colour)\"")
                        + (label.map { SVG.text($0, x: start + 6, y: y + height - 5, "name") } ?? "")))
        }
    }

    /// Returns the beginning of the leaf's key, as much as fits into the box; `nil` for the other rows.
    private static func label(_ row: String, _ observation: KeyObservation, columns: Int) -> String? {
        guard row == "leaf", columns >= 5 else { return nil }
        return String(observation.leafKey.description.dropFirst("sha256/".count).prefix(min(columns - 1, 12))) + "…"
    }

    private static func title(_ row: String, _ first: KeyObservation, _ last: KeyObservation) -> String {
        let seen = "seen \(RFC3339.string(from: first.instant)) to \(RFC3339.string(from: last.instant))"
        func names(_ certificates: [ObservedCertificate]) -> String {
            certificates.isEmpty ? "none" : certificates.map { "\($0.name) \($0.key)" }.joined(separator: " / ")
        }
        return switch row {
        case "leaf":
            "certificate \(first.leafCertificate), key \(first.leafKey), valid \(ValidityText.day(first.notBefore)) to "
                + "\(ValidityText.day(first.notAfter)), issuer \(first.issuer); \(seen)"
        case "root": "root \(names(first.path.root.map { [$0] } ?? [])); \(seen)"
        default: "intermediates \(names(first.path.intermediates)); \(seen)"
        }
    }

    /// Draws a striped bar for each gap. Gaps that would overlap share one.
    private mutating func draw(_ gaps: [KeyGap], top: Double, bottom: Double) {
        var bars: [(start: Double, end: Double, gaps: Int, example: KeyGap)] = []
        for gap in gaps {
            let start = min(max(x(gap.instant) - 3, Self.left), Self.right - 6)
            if let last = bars.indices.last, start <= bars[last].end {
                bars[last].end = start + 6
                bars[last].gaps += 1
            } else {
                bars.append((start, start + 6, 1, gap))
            }
        }
        for bar in bars {
            let more = bar.gaps > 1 ? ", and \(ValidityText.counted(bar.gaps - 1, "gap")) after it" : ""
            let title = "\(RFC3339.string(from: bar.example.instant)): \(bar.example.reason)\(more)"
            lines.append(
                SVG.titled(
                    SafeText.claim(title),
                    SVG.rectangle(
                        x: bar.start, y: top, width: bar.end - bar.start, height: bottom - top,
                        "fill=\"url(#gap\(number))\" class=\"outline\"")))
        }
    }

    /// Draws a dot for each observation; those that would cover each other share one.
    private mutating func draw(asked observations: [KeyObservation], at y: Double) {
        var last = -Double.infinity
        for observation in observations where x(observation.instant) - last >= 3 {
            last = x(observation.instant)
            lines.append("<circle cx=\"\(SVG.number(last))\" cy=\"\(SVG.number(y))\" r=\"1.5\" class=\"asked\"/>")
        }
    }

    /// Draws a line at each instant from which pins are missing, with the day below it.
    private mutating func draw(_ died: [PinStatus], top: Double) {
        var days: [(at: Double, text: String, count: Int)] = []
        for status in died {
            guard let missing = status.missingSince else { continue }
            let text = ValidityText.day(missing)
            if let known = days.firstIndex(where: { $0.text == text }) {
                days[known].count += 1
            } else if days.count < 20 {
                days.append((x(missing), text, 1))
            }
        }
        // A row for each day, so that the words do not cover each other.
        for day in days.sorted(by: { $0.at < $1.at }) {
            lines.append(SVG.line(day.at, top, day.at, y + 4, "from"))
            let isLate = day.at > Self.right - 200
            lines.append(
                SVG.text(
                    "\(day.text): \(ValidityText.counted(day.count, "pin")) died", x: day.at + (isLate ? -4 : 4),
                    y: y + 8, isLate ? "from-day end" : "from-day"))
            y += 15
        }
    }

    // MARK: Time

    /// Draws up to ten days as lines behind the lanes; within one day, the instants of both ends.
    private func axis(bottom: Double) -> [String] {
        let first = (span.lowerBound.timeIntervalSince1970 / 86_400).rounded(.up)
        let last = (span.upperBound.timeIntervalSince1970 / 86_400).rounded(.down)
        guard first <= last, last - first < 5_000_000 else {
            return [
                SVG.text(RFC3339.string(from: span.lowerBound), x: Self.left, y: 14, "month-name"),
                SVG.text(RFC3339.string(from: span.upperBound), x: Self.right, y: 14, "month-name end"),
            ]
        }
        let step = max(1, ((last - first + 1) / 8).rounded(.up))
        var lines: [String] = []
        var end = 0.0
        for day in stride(from: first, through: last, by: step) {
            let instant = Date(timeIntervalSince1970: day * 86_400)
            let place = x(instant)
            lines.append(SVG.line(place, 18, place, bottom - 6, "month"))
            // A day at the right end has its label on the left, unless the label before it is there.
            let isLate = place > Self.right - 60
            guard !isLate || place - 80 > end else { continue }
            end = place + 80
            lines.append(
                SVG.text(
                    ValidityText.day(instant), x: isLate ? place - 3 : place + 3, y: 14,
                    isLate ? "month-name end" : "month-name"))
        }
        return lines
    }

    private func x(_ instant: Date) -> Double {
        let whole = max(span.upperBound.timeIntervalSince(span.lowerBound), 1)
        let part = instant.timeIntervalSince(span.lowerBound)
        return Self.left + (Self.right - Self.left) * min(max(part / whole, 0), 1)
    }
}
