internal import Pintle
internal import PintleConsole
internal import PintleSystem
internal import PintleText

/// An SVG drawing of one server: its certificates, and the versions that can connect. It has its own labels and takes
/// its colours from the page. A renewal pattern is one box with a mark for each renewal.
struct PlanDiagram {
    private let report: PlanReport
    private let view: PlanView
    private var lines: [String] = []
    private var y = 0.0

    private static let left = 150.0
    private static let right = 940.0
    private static let width = 960.0
    private static let rowHeight = 30.0
    private static let barHeight = 18.0
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
            label: "\(view.name): its certificates, and the versions that can connect", stripes: "stripes\(server)",
            drawing.lines)
    }

    private mutating func draw() {
        y = 24
        let top = y
        drawServed()
        for app in plan.apps.indices { drawVersion(app) }
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

    /// Draws the bar of a version, and stripes over the time in which it cannot connect. A version that is not
    /// supported in the time of the plan has no row.
    private mutating func drawVersion(_ app: Int) {
        let version = plan.apps[app]
        let supported = spans { version.isSupported(at: simulation.instants[$0]) }
        guard !supported.isEmpty else { return }
        label("version \(version.version)", at: y + Self.barHeight - 3)
        for span in supported { lines.append(bar(span, "class=\"users\"")) }
        for span in spans({ simulation.loss(ofServer: server, app: app, at: $0) != nil }) {
            let title =
                "version \(version.version) cannot connect from \(PlanTime.text(span.from)) until "
                + PlanTime.text(span.until)
            lines.append(SVG.titled(title, bar(span, "fill=\"url(#stripes\(server))\" class=\"outline\"")))
        }
        y += Self.rowHeight
    }

    private func bar(_ span: (from: Date, until: Date), _ attributes: String) -> String {
        let start = x(span.from)
        return SVG.rectangle(x: start, y: y, width: max(2, x(span.until) - start), height: Self.barHeight, attributes)
    }

    /// Returns the times in which a condition holds. Nothing changes between two instants.
    private func spans(_ holds: (Int) -> Bool) -> [(from: Date, until: Date)] {
        var spans: [(from: Date, until: Date)] = []
        let instants = simulation.instants
        for index in instants.indices where holds(index) {
            let end = instants.indices.contains(index + 1) ? instants[index + 1] : plan.until
            if spans.last?.until == instants[index] {
                spans[spans.count - 1].until = end
            } else {
                spans.append((instants[index], end))
            }
        }
        return spans
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
            // Several lock-outs may begin on one day.
            guard labels.insert(PlanTime.text(lockOut.from)).inserted else { continue }
            lines.append(SVG.line(place, top, place, bottom + 4, "from"))
            let isLate = place > Self.right - 150
            lines.append(
                SVG.text(
                    PlanTime.text(lockOut.from), x: place, y: bottom + 16,
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
}
