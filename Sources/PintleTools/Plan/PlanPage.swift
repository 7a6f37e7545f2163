internal import FoundationEssentials
internal import Pintle

/// A report as a page that stands alone: no script, nothing from elsewhere, the same sentences as everywhere.
struct PlanPage {
    private let report: PlanReport
    private let file: String

    init(_ report: PlanReport, file: String) {
        (self.report, self.file) = (report, file)
    }

    var html: String {
        let title = HTMLText.escape("Rotation plan: \(file)")
        var parts = [
            "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">", "<title>\(title)</title>",
            "<style>", Self.style, "</style>", "</head>", "<body>", "<h1>\(title)</h1>", verdict,
        ]
        for server in report.plan.servers.indices {
            parts.append("<section><h2>\(HTMLText.escape(report.plan.servers[server].name))</h2>")
            parts.append("<figure>\(PlanDiagram(report, server: server).svg)")
            parts.append(
                "<figcaption>The height of an area is a share of all users, a full row 100 %; striped: they cannot "
                    + "connect.</figcaption></figure></section>")
        }
        parts += happenings + section("What to do", "ol", report.advice.map { HTMLText.escape($0.text) })
        parts += section("Updates", "ul", report.updateLines.map(HTMLText.escape))
        parts += section("Notes", "ul", report.notes.map(HTMLText.escape))
        parts.append("<footer><p>Days are in UTC. Made by pintle plan.</p></footer>")
        return (parts + ["</body>", "</html>", ""]).joined(separator: "\n")
    }

    private var verdict: String {
        let span = report.span
        guard report.isLockedOut, let worst = report.worst else {
            return "<p class=\"verdict fine\"><strong>ok</strong> \(span): \(HTMLText.escape(report.fineWords))</p>"
        }
        let server = report.plan.servers[worst.server].name
        let text = "\(span): up to \(worst.share) of users cannot connect to \(server)"
        return "<p class=\"verdict bad\"><strong>LOCKED OUT</strong> \(HTMLText.escape(text))</p>"
    }

    private var happenings: [String] {
        let lockOuts = report.lockOuts.map { lockOut in
            "\(HTMLText.escape(report.sentence(lockOut)))<br><small>\(HTMLText.escape(report.reason(lockOut)))</small>"
        }
        return section("Locked out", "ul", lockOuts)
            + section("Exposed", "ul", report.exposures.map { HTMLText.escape(report.sentence($0)) })
    }

    /// - Parameter items: escaped already.
    private func section(_ title: String, _ list: String, _ items: [String]) -> [String] {
        guard !items.isEmpty else { return [] }
        return ["<section><h2>\(title)</h2>", "<\(list)>"] + items.map { "<li>\($0)</li>" } + ["</\(list)></section>"]
    }

    private static let style = """
        :root { color-scheme: light dark; --text: #1b1f24; --page: #ffffff; --faint: #6a737d; --rule: #d0d7de;
          --served: #cfe3ff; --users: #a9c8a4; --out: #d1453b; --stripe: #ffd9d5; }
        @media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --page: #14181d; --faint: #9aa4ae;
          --rule: #3a424b; --served: #24476f; --users: #3f6b45; --out: #e0574d; --stripe: #6e1f1a; } }
        body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
          max-width: 62rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
        h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-bottom: .3rem; }
        .verdict { border-left: .4rem solid var(--rule); padding: .4rem .8rem; }
        .bad { border-color: var(--out); } .fine { border-color: var(--users); }
        figure { margin: 0; overflow-x: auto; } svg { width: 100%; min-width: 40rem; height: auto; }
        figcaption, footer, small { color: var(--faint); font-size: .85rem; }
        li { margin-bottom: .4rem; }
        text { font: 12px system-ui, sans-serif; fill: var(--text); } .month-name, .value { fill: var(--faint); }
        .served { fill: var(--served); stroke: var(--rule); } .users { fill: var(--users); }
        .out { fill: var(--out); } .stripe { stroke: var(--stripe); stroke-width: 3; }
        .outline { stroke: var(--out); }
        .base, .month { stroke: var(--rule); } .from { stroke: var(--out); stroke-width: 1.5; stroke-dasharray: 4 3; }
        .from-day { fill: var(--out); font-weight: 600; } .end { text-anchor: end; }
        """
}

/// A server's time as a drawing, SVG: what it serves, who uses which version, and who cannot connect. It holds its own
/// words, and takes its colours from the page.
struct PlanDiagram {
    private let report: PlanReport
    private let server: Int
    private var lines: [String] = []
    private var y = 0.0

    private static let left = 150.0
    private static let right = 940.0
    private static let width = 960.0
    private static let rowHeight = 46.0

    init(_ report: PlanReport, server: Int) {
        (self.report, self.server) = (report, server)
    }

    private var plan: RotationPlan { report.plan }
    private var simulation: PlanSimulation { report.simulation }

    var svg: String {
        var drawing = self
        drawing.draw()
        let height = Self.number(drawing.y)
        let title = HTMLText.escape("\(plan.servers[server].name): what it serves, and who can connect")
        return """
            <svg viewBox="0 0 \(Self.number(Self.width)) \(height)" role="img" aria-label="\(title)">
            <defs><pattern id="stripes\(server)" width="6" height="6" patternUnits="userSpaceOnUse" \
            patternTransform="rotate(45)"><rect width="6" height="6" class="out"/>\
            <line x1="0" y1="0" x2="0" y2="6" class="stripe"/></pattern></defs>
            \(drawing.lines.joined(separator: "\n"))
            </svg>
            """
    }

    private mutating func draw() {
        y = 24
        let top = y
        drawServed()
        let curves = plan.apps.indices.map { app in
            (
                name: "version \(plan.apps[app].version)",
                users: curve { plan.apps[app].share(at: $0) },
                out: curve { simulation.lockedOut(ofServer: server, app: app, at: $0) }
            )
        }
        for row in curves where row.users.contains(where: { $0.share > .none }) {
            drawRow(row.name, row.users, row.out)
        }
        let out = curve { instant in
            plan.apps.indices.reduce(UserShare.none) {
                $0 + simulation.lockedOut(ofServer: server, app: $1, at: instant)
            }
        }
        if out.contains(where: { $0.share > .none }) { drawRow("cannot connect", [], out) }
        let bottom = y
        // Behind the rest.
        lines = axis(top, bottom) + lines
        drawBeginnings(top, bottom)
        y = bottom + 22
    }

    // MARK: Rows

    /// What is served, a box from switch to switch.
    private mutating func drawServed() {
        label("serves", at: y + 18)
        let switches = plan.servers[server].switches
        for (index, change) in switches.enumerated() {
            let next = switches.indices.contains(index + 1) ? switches[index + 1].from : plan.until
            let (from, end) = (max(change.from, simulation.now), min(next, plan.until))
            guard end > from else { continue }
            let (start, stop) = (x(from), x(end))
            let certificate = plan.certificates[change.certificate]
            let name = HTMLText.escape(certificate.name)
            let keys = certificate.keys.map { plan.keys[$0].name }.joined(separator: ", ")
            let dates = "from \(PlanTime.text(change.from)), valid until \(PlanTime.text(certificate.notAfter))"
            lines.append(
                "<g><title>\(name): \(dates); keys \(HTMLText.escape(keys))</title>"
                    + "<rect x=\"\(Self.number(start))\" y=\"\(Self.number(y + 3))\" "
                    + "width=\"\(Self.number(stop - start))\" height=\"22\" rx=\"3\" class=\"served\"/>"
                    // As many letters as the box has room for; the title has them all.
                    + Self.text(
                        TextLayout.shortened(certificate.name, to: max(2, Int((stop - start) / 8)), ellipsis: "…"),
                        x: start + 6, y: y + 18, "name") + "</g>")
        }
        y += 34
    }

    private mutating func drawRow(
        _ name: String, _ users: [(at: Date, share: UserShare)], _ out: [(at: Date, share: UserShare)]
    ) {
        label(name, at: y + Self.rowHeight - 6)
        let base = y + Self.rowHeight
        if !users.isEmpty { lines.append("<path d=\"\(area(users, base))\" class=\"users\"/>") }
        if out.contains(where: { $0.share > .none }) {
            lines.append("<path d=\"\(area(out, base))\" fill=\"url(#stripes\(server))\" class=\"outline\"/>")
        }
        lines.append(Self.line(Self.left, base, Self.right, base, "base"))
        let shown = users.isEmpty ? out : users
        if let peak = shown.max(by: { $0.share < $1.share }) {
            let start = min(x(peak.at), Self.right - 60)
            let height = Self.height(peak.share)
            let place = height > Self.rowHeight / 2 ? base - 5 : base - height - 4
            lines.append(Self.text(peak.share.description, x: start + 4, y: place, "value"))
        }
        y += Self.rowHeight + 8
    }

    private mutating func label(_ text: String, at y: Double) {
        let short = TextLayout.shortened(text, to: 19, ellipsis: "…")
        lines.append(
            "<g><title>\(HTMLText.escape(text))</title>\(Self.text(short, x: 4, y: y, "label"))</g>")
    }

    // MARK: Time

    private func axis(_ top: Double, _ bottom: Double) -> [String] {
        let months = simulation.instants.filter { RFC3339.string(from: $0).dropFirst(8).hasPrefix("01T00:00:00") }
        let step = max(1, (months.count + 9) / 10)
        return stride(from: 0, to: months.count, by: step).flatMap { index -> [String] in
            let place = x(months[index])
            return [
                Self.line(place, top - 4, place, bottom, "month"),
                Self.text(
                    String(PlanTime.text(months[index]).prefix(7)), x: place > Self.right - 30 ? Self.right : place + 3,
                    y: top - 8, place > Self.right - 30 ? "month-name end" : "month-name"),
            ]
        }
    }

    /// A line at each day on which users begin to be locked out, the day below it.
    private mutating func drawBeginnings(_ top: Double, _ bottom: Double) {
        for lockOut in report.lockOuts where lockOut.server == server {
            let place = x(lockOut.from)
            lines.append(Self.line(place, top, place, bottom + 4, "from"))
            let isLate = place > Self.right - 150
            lines.append(
                Self.text(
                    "\(PlanTime.text(lockOut.from)): \(lockOut.share)", x: place, y: bottom + 16,
                    isLate ? "from-day end" : "from-day"))
        }
    }

    private func x(_ instant: Date) -> Double {
        let whole = Double(plan.until.wholeSeconds - simulation.now.wholeSeconds)
        let part = Double(instant.wholeSeconds - simulation.now.wholeSeconds)
        return Self.left + (Self.right - Self.left) * min(max(part / max(whole, 1), 0), 1)
    }

    // MARK: Curves

    /// At some 400 instants, and at all that change what is decided.
    private func curve(_ share: (Date) -> UserShare) -> [(at: Date, share: UserShare)] {
        let step = max(1, simulation.instants.count / 400)
        let changes = Set(simulation.phases[server].joined().map(\.from))
        var points: [(at: Date, share: UserShare)] = []
        for (index, instant) in simulation.instants.enumerated() where index % step == 0 || changes.contains(instant) {
            if changes.contains(instant), index > 0 {
                // A jump stands upright.
                let before = Date(wholeSeconds: instant.wholeSeconds - 1)
                points.append((instant, share(before)))
            }
            points.append((instant, share(instant)))
        }
        if let last = points.last { points.append((plan.until, last.share)) }
        return points
    }

    /// Drawn where there is something: each stretch from the point before it to the one behind it.
    private func area(_ points: [(at: Date, share: UserShare)], _ base: Double) -> String {
        var path = ""
        for (index, point) in points.enumerated() {
            let isFirst = index == 0 || points[index - 1].share == .none
            let isLast = index == points.count - 1 || points[index + 1].share == .none
            guard point.share > .none else { continue }
            let height = Self.height(point.share)
            if isFirst { path += "M\(Self.number(x(points[max(0, index - 1)].at))) \(Self.number(base))" }
            path += "L\(Self.number(x(point.at))) \(Self.number(base - height))"
            if isLast {
                let end = points[min(points.count - 1, index + 1)].at
                path += "L\(Self.number(x(end))) \(Self.number(base))Z"
            }
        }
        return path
    }

    private static func height(_ share: UserShare) -> Double { (rowHeight - 4) * Double(share.units) / 100_000 }

    // MARK: Elements

    private static func text(_ text: String, x: Double, y: Double, _ kind: String) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" class=\"\(kind)\">\(HTMLText.escape(text))</text>"
    }

    private static func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String) -> String {
        "<line x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\" class=\"\(kind)\"/>"
    }

    /// One decimal.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
