internal import Pintle
internal import PintleSystem

/// An SVG drawing of one server: its certificates, the users of each version, and the users who cannot connect. It has
/// its own labels and takes its colours from the page. A renewal pattern is one box with a mark for each renewal.
struct PlanDiagram {
    private let report: PlanReport
    private let view: PlanView
    private var lines: [String] = []
    private var y = 0.0

    private static let left = 150.0
    private static let right = 940.0
    private static let width = 960.0
    private static let rowHeight = 46.0
    /// The height of the smallest share above 0 %, so that 3 % of users are an area and not a hairline.
    private static let leastHeight = 5.0

    /// The smallest distance of two marks of renewals.
    private static let markDistance = 5.0

    init(_ report: PlanReport, _ view: PlanView) {
        (self.report, self.view) = (report, view)
    }

    private var server: Int { view.server }

    private var plan: RotationPlan { report.plan }
    private var simulation: PlanSimulation { report.simulation }

    var svg: String {
        var drawing = self
        drawing.draw()
        return SVG.drawing(
            width: Self.width, height: drawing.y,
            label: "\(view.name): its certificates, and the users who can connect", stripes: "stripes\(server)",
            drawing.lines)
    }

    private mutating func draw() {
        y = 24
        let top = y
        drawServed()
        let curves = plan.apps.indices.map { app in
            (
                name: "version \(plan.apps[app].version)",
                users: curve { plan.apps[app].share(at: $0) },
                out: curve { simulation.lockedOutShare(ofServer: server, app: app, at: $0) }
            )
        }
        for row in curves where row.users.contains(where: { $0.share > .none }) {
            drawRow(row.name, row.users, row.out)
        }
        let out = curve { instant in
            plan.apps.indices.reduce(UserShare.none) {
                $0 + simulation.lockedOutShare(ofServer: server, app: $1, at: instant)
            }
        }
        if out.contains(where: { $0.share > .none }) { drawRow("cannot connect", [], out) }
        let bottom = y
        // Draw the axis first, so that it lies behind the rest.
        lines = axis(top, bottom) + lines
        drawBeginnings(top, bottom)
        y = bottom + 22
    }

    // MARK: Rows

    /// Draws the certificates, each as a box from switch to switch. Switches between copies of one certificate are left
    /// out.
    private mutating func drawServed() {
        label("serves", at: y + 18)
        var switches: [RotationPlan.Server.Switch] = []
        for change in plan.servers[server].switches where switches.last?.certificate != change.certificate {
            switches.append(change)
        }
        for (index, change) in switches.enumerated() {
            let next = switches.indices.contains(index + 1) ? switches[index + 1].from : plan.until
            let (from, end) = (max(change.from, simulation.now), min(next, plan.until))
            guard end > from else { continue }
            drawBox(change, from: from, until: end)
        }
        y += 34
    }

    private mutating func drawBox(_ change: RotationPlan.Server.Switch, from: Date, until end: Date) {
        let (start, stop) = (x(from), x(end))
        let certificate = plan.certificates[change.certificate]
        let name = view.name(of: certificate)
        let keys = certificate.keys.map { plan.keys[$0].name }
        let title =
            certificate.renewal.map { renewal in
                "\(name): from \(PlanTime.text(change.from)), every \(ValidityText.counted(renewal.every, "day")), "
                    + "valid for \(ValidityText.counted(renewal.lifetime, "day")); \(keys.prefix(1).joined())"
            }
            ?? "\(name): from \(PlanTime.text(change.from)), valid until \(PlanTime.text(certificate.notAfter)); keys "
            + keys.joined(separator: ", ")
        lines.append(
            SVG.titled(
                title,
                SVG.rectangle(x: start, y: y + 3, width: stop - start, height: 22, "rx=\"3\" class=\"served\"")
                    // The box shows as much of the name as fits; the title has the whole name.
                    + SVG.text(
                        TextLayout.shortened(name, to: max(2, Int((stop - start) / 8)), ellipsis: "…"),
                        x: start + 6, y: y + 18, "name")))
        if let renewal = certificate.renewal { drawMarks(of: renewal, from: change.from, until: end) }
    }

    /// Draws a mark at the foot of the box for each renewal, or for every second or third if they are too close.
    private mutating func drawMarks(of renewal: RotationPlan.Renewal, from start: Date, until end: Date) {
        var step = renewal.every
        // Points before the plan's start are drawn at it, so the distance is measured from there.
        while x(simulation.now.addingDays(step)) - Self.left < Self.markDistance, step < PlanLimits.days {
            step += renewal.every
        }
        // A pattern may have begun years before the plan.
        let past = max(0, Int(simulation.now.timeIntervalSince(start) / 86_400)) / step * step
        for day in stride(from: past + step, through: past + PlanLimits.days, by: step) {
            let place = x(start.addingDays(day))
            guard start.addingDays(day) < end else { break }
            guard start.addingDays(day) > simulation.now else { continue }
            lines.append(SVG.line(place, y + 21, place, y + 25, "mark"))
        }
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
        lines.append(SVG.line(Self.left, base, Self.right, base, "base"))
        let shown = users.isEmpty ? out : users
        if let peak = shown.max(by: { $0.share < $1.share }) {
            let start = min(x(peak.at), Self.right - 76)
            let height = Self.height(peak.share)
            let place = height > Self.rowHeight / 2 ? base - 5 : base - height - 4
            lines.append(SVG.text(peak.share.description, x: start + 4, y: place, "value"))
        }
        y += Self.rowHeight + 8
    }

    private mutating func label(_ text: String, at y: Double) {
        let short = TextLayout.shortened(text, to: 19, ellipsis: "…")
        lines.append(SVG.titled(text, SVG.text(short, x: 4, y: y, "label")))
    }

    // MARK: Time

    private func axis(_ top: Double, _ bottom: Double) -> [String] {
        let months = simulation.instants.filter { RFC3339.string(from: $0).dropFirst(8).hasPrefix("01T00:00:00") }
        let step = max(1, (months.count + 9) / 10)
        return stride(from: 0, to: months.count, by: step).flatMap { index -> [String] in
            let place = x(months[index])
            return [
                SVG.line(place, top - 4, place, bottom, "month"),
                SVG.text(
                    String(PlanTime.text(months[index]).prefix(7)), x: place > Self.right - 30 ? Self.right : place + 3,
                    y: top - 8, place > Self.right - 30 ? "month-name end" : "month-name"),
            ]
        }
    }

    /// Draws a line at each day on which a lock-out begins, with the day below it.
    private mutating func drawBeginnings(_ top: Double, _ bottom: Double) {
        var labels: Set<String> = []
        for lockOut in report.lockOuts where shows(lockOut) {
            let place = x(lockOut.from)
            // Several authorities may lock the same users out on one day.
            guard labels.insert("\(PlanTime.text(lockOut.from)) \(lockOut.share)").inserted else { continue }
            lines.append(SVG.line(place, top, place, bottom + 4, "from"))
            let isLate = place > Self.right - 150
            lines.append(
                SVG.text(
                    "\(PlanTime.text(lockOut.from)): \(lockOut.share)", x: place, y: bottom + 16,
                    isLate ? "from-day end" : "from-day"))
        }
    }

    /// Returns `true` for a lock-out of this view. Those by certificates of the plan's list belong to all views of a
    /// server.
    private func shows(_ lockOut: LockOut) -> Bool {
        view.servers.contains(lockOut.server)
            || plan.certificates[lockOut.certificate].renewal == nil
                && plan.servers[lockOut.server].endpoint == plan.servers[server].endpoint
    }

    private func x(_ instant: Date) -> Double {
        let whole = Double(plan.until.wholeSeconds - simulation.now.wholeSeconds)
        let part = Double(instant.wholeSeconds - simulation.now.wholeSeconds)
        return Self.left + (Self.right - Self.left) * min(max(part / max(whole, 1), 0), 1)
    }

    // MARK: Curves

    /// Returns points of a curve: about 400 instants, and all at which a decision changes.
    private func curve(_ share: (Date) -> UserShare) -> [(at: Date, share: UserShare)] {
        let step = max(1, simulation.instants.count / 400)
        let changes = Set(simulation.phases[server].joined().map(\.from))
        var points: [(at: Date, share: UserShare)] = []
        for (index, instant) in simulation.instants.enumerated() where index % step == 0 || changes.contains(instant) {
            if changes.contains(instant), index > 0 {
                // A second point just before it makes the jump vertical.
                let before = Date(wholeSeconds: instant.wholeSeconds - 1)
                points.append((instant, share(before)))
            }
            points.append((instant, share(instant)))
        }
        if let last = points.last { points.append((plan.until, last.share)) }
        return points
    }

    /// Returns the path of an area. Each stretch with users begins at the point before it and ends at the point after
    /// it.
    private func area(_ points: [(at: Date, share: UserShare)], _ base: Double) -> String {
        var path = ""
        for (index, point) in points.enumerated() {
            let isFirst = index == 0 || points[index - 1].share == .none
            let isLast = index == points.count - 1 || points[index + 1].share == .none
            guard point.share > .none else { continue }
            let height = Self.height(point.share)
            if isFirst { path += "M\(SVG.number(x(points[max(0, index - 1)].at))) \(SVG.number(base))" }
            path += "L\(SVG.number(x(point.at))) \(SVG.number(base - height))"
            if isLast {
                let end = points[min(points.count - 1, index + 1)].at
                path += "L\(SVG.number(x(end))) \(SVG.number(base))Z"
            }
        }
        return path
    }

    private static func height(_ share: UserShare) -> Double {
        share == .none ? 0 : leastHeight + (rowHeight - 4 - leastHeight) * Double(share.units) / 100_000
    }
}
