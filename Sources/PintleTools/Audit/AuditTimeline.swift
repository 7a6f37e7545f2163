internal import Pintle
internal import PintleConsole
internal import PintlePolicyTools
internal import PintleSystem
internal import PintleText

/// The ends of certificates and pins by week, for one year, and their drawing.
struct AuditTimeline {
    /// The numbers of ends in one week.
    struct Bar {
        var certificates = 0
        var pins = 0
        /// The first server that was counted.
        var example: ServerEndpoint?
    }

    private static let weeks = 52
    private static let week = 7.0 * 86_400

    private let now: Date
    /// The counts of ends before now, in each week, and later than a year from now.
    private(set) var bars = [Bar](repeating: Bar(), count: weeks + 2)

    init(now: Date) {
        self.now = now
    }

    mutating func add(_ record: AuditRecord) {
        if let end = record.certificateEnds { count(end, record.endpoint) { $0.certificates += 1 } }
        if let end = record.pinsEnd { count(end, record.endpoint) { $0.pins += 1 } }
    }

    private mutating func count(_ end: Date, _ server: ServerEndpoint, _ change: (inout Bar) -> Void) {
        let weeks = end.timeIntervalSince(now) / Self.week
        let index = weeks < 0 ? 0 : weeks >= Double(Self.weeks) ? Self.weeks + 1 : Int(weeks) + 1
        change(&bars[index])
        if bars[index].example == nil { bars[index].example = server }
    }

    // MARK: Drawing

    private static let (step, top, bottom) = (17, 24, 150)

    /// An SVG element: a bar for each week, with a title that screen readers read.
    var svg: String {
        let width = bars.count * Self.step + 40
        let highest = max(1, bars.map { max($0.certificates, $0.pins) }.max() ?? 1)
        var lines = [
            """
            <svg viewBox="0 0 \(width) 174" role="img" aria-labelledby="timeline-title">
            """,
            "<title id=\"timeline-title\">\(HTMLText.escape(sentence))</title>",
            "<line class=\"axis\" x1=\"10\" y1=\"\(Self.bottom)\" x2=\"\(width - 10)\" y2=\"\(Self.bottom)\"/>",
            "<text x=\"10\" y=\"12\">\(highest) in a week at most</text>",
        ]
        for (index, bar) in bars.enumerated() {
            let x = 20 + index * Self.step
            if bar.certificates > 0 || bar.pins > 0 {
                lines.append("<g><title>\(HTMLText.escape(label(index)))</title>")
                lines.append(rectangle("certificates", bar.certificates, of: highest, x: x))
                lines.append(rectangle("pins", bar.pins, of: highest, x: x + 7))
                lines.append("</g>")
            }
            if let word = axisWord(index) {
                lines.append("<text x=\"\(x)\" y=\"\(Self.bottom + 16)\">\(word)</text>")
            }
        }
        return (lines + ["</svg>"]).joined(separator: "\n")
    }

    private func rectangle(_ kind: StaticString, _ count: Int, of highest: Int, x: Int) -> String {
        guard count > 0 else { return "" }
        let height = max(2, (Self.bottom - Self.top) * count / highest)
        return "<rect class=\"\(kind)\" x=\"\(x)\" y=\"\(Self.bottom - height)\" width=\"6\" height=\"\(height)\"/>"
    }

    private func axisWord(_ index: Int) -> String? {
        switch index {
        case 0: "over"
        case bars.count - 1: "later"
        case _ where index % 8 == 5: ValidityText.day(begin(of: index))
        default: nil
        }
    }

    private func begin(of index: Int) -> Date { now.addingTimeInterval(Double(index - 1) * Self.week) }

    /// `7 days from 2026-12-04: 12 certificates, pins for 3 servers; one is example.com:443`
    private func label(_ index: Int) -> String {
        let when =
            switch index {
            case 0: "over already"
            case bars.count - 1: "later"
            default: "7 days from \(ValidityText.day(begin(of: index)))"
            }
        let bar = bars[index]
        let counts = [
            bar.certificates > 0 ? ValidityText.counted(bar.certificates, "certificate") : nil,
            bar.pins > 0 ? "pins for \(ValidityText.counted(bar.pins, "server"))" : nil,
        ].compactMap(\.self)
        return "\(when): \(counts.joined(separator: ", "))" + (bar.example.map { "; one is \($0)" } ?? "")
    }

    /// The drawing's content in words.
    private var sentence: String {
        func sum(_ range: some Sequence<Int>) -> Int { range.reduce(0) { $0 + bars[$1].certificates } }
        return "Ends of certificates by week: \(bars[0].certificates) over already, \(sum(1...4)) within 4 weeks, "
            + "\(sum(5...13)) within the quarter after, \(sum(14...Self.weeks)) within the year, "
            + "\(bars[Self.weeks + 1].certificates) later"
    }
}
