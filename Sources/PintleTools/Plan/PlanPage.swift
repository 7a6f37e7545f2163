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
