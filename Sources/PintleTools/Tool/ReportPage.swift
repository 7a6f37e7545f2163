internal import Pintle
internal import PintleCrypto
internal import PintleSystem

/// The frame of every page that the tool writes: its head, its result, its style sheet and its foot.
///
/// A page loads nothing. A content security policy names the hashes of its one style sheet and of its script, if it has
/// one, so that a browser applies and runs nothing else (CSP 3 section 2.3.1).
struct ReportPage {
    /// A verdict, which colours a page's result, a table's cell or a figure.
    enum Verdict: String {
        case good, warning, bad, none
    }

    /// The kind of report, such as `Audit`.
    let kind: String
    /// The result in one sentence. It is the title and the heading of the page.
    let result: String
    let verdict: Verdict
    /// HTML below the heading.
    var facts: [String] = []
    /// A Boolean value that indicates whether the page has a wide table.
    var isWide = false
    /// Rules of this page beside the common ones.
    var style = ""
    var script: String?

    /// The page up to its content.
    var head: String {
        let sheet = "\n" + ReportStyle.sheet + "\n" + (style.isEmpty ? "" : style + "\n")
        let policy = [
            "default-src 'none'", "style-src '\(Self.hash(sheet))'", script.map { "script-src '\(Self.hash($0))'" },
            "base-uri 'none'", "form-action 'none'",
        ]
        let title = HTMLText.escape(result)
        let facts = facts.map { "<p>\($0)</p>" }.joined(separator: "\n")
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="Content-Security-Policy" content="\(policy.compactMap(\.self).joined(separator: "; "))">
            <title>\(title)</title>
            <style>\(sheet)</style>
            </head>
            <body\(isWide ? " class=\"wide\"" : "")>
            <header class="\(verdict.rawValue)">
            <p class="kind">\(HTMLText.escape(kind))</p>
            <h1>\(title)</h1>
            \(facts)
            </header>

            """
    }

    /// The end of the page.
    ///
    /// - Parameters:
    ///   - date: when the page was made.
    ///   - note: a sentence before that.
    func foot(_ date: Date, note: String = "") -> String {
        let made = "Made \(RFC3339.string(from: date)) by pintle \(CommandLineTool.version)."
        return """
            <footer><p>\(note.isEmpty ? "" : HTMLText.escape(note) + " ")\(made)</p></footer>
            \(script.map { "<script>\($0)</script>\n" } ?? "")</body>
            </html>

            """
    }

    /// Returns a section with a heading and a list; the empty string without items.
    ///
    /// - Parameter items: HTML.
    static func list(_ title: String, _ items: [String], isOrdered: Bool = false) -> String {
        guard !items.isEmpty else { return "" }
        let name = isOrdered ? "ol" : "ul"
        return "<section>\n<h2>\(HTMLText.escape(title))</h2>\n<\(name)>\n"
            + items.map { "<li>\($0)</li>\n" }.joined() + "</\(name)>\n</section>\n"
    }

    private static func hash(_ text: String) -> String {
        "sha256-" + Base64.encode(SHA256Digest(hashing: Array(text.utf8)).bytes)
    }
}

/// The style sheet that all pages share.
enum ReportStyle {
    /// CSS for wide and narrow screens, light and dark colours, and paper.
    static let sheet = """
        :root { color-scheme: light dark; --text: #1b1f24; --page: #ffffff; --faint: #59636e; --rule: #d0d7de;
          --raised: #f6f8fa; --good: #18692e; --warning: #8a5200; --bad: #b3261e;
          --served: #cfe3ff; --users: #a9c8a4; --out: #d1453b; --stripe: #ffd9d5;
          --certificates: #2f6fb7; --pins: #b7702f }
        @media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --page: #14181d; --faint: #9aa4ae;
          --rule: #3a424b; --raised: #1c2229; --good: #7cc990; --warning: #e2b15f; --bad: #f2948d;
          --served: #24476f; --users: #3f6b45; --out: #e0574d; --stripe: #6e1f1a;
          --certificates: #79aee6; --pins: #e6a879 } }
        * { box-sizing: border-box }
        body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
          max-width: 62rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word }
        body.wide { max-width: 84rem }
        a { color: var(--certificates) }
        header { border-left: .4rem solid var(--rule); padding: .1rem 0 .1rem .9rem; margin-bottom: 1.5rem }
        header p { margin: .25rem 0 } header .kind { color: var(--faint); font-size: .85rem }
        header.good { border-color: var(--good) } header.warning { border-color: var(--warning) }
        header.bad { border-color: var(--bad) }
        h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .4rem } header.bad h1 { color: var(--bad) }
        h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem }
        p, ul, ol { max-width: 62rem } li { margin-bottom: .4rem }
        code { font: .92em ui-monospace, monospace; overflow-wrap: anywhere }
        .good { color: var(--good) } .warning { color: var(--warning) } .bad { color: var(--bad); font-weight: 600 }
        header.good, header.warning, header.bad { color: inherit; font-weight: inherit }
        small, figcaption, footer { color: var(--faint); font-size: .85rem }
        footer { margin-top: 2.5rem; border-top: 1px solid var(--rule) }
        .figures { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0 }
        .figures div { background: var(--raised); border: 1px solid var(--rule); border-radius: 6px;
          padding: .3rem .9rem } .figures b { font-size: 1.4rem }
        .lists { display: flex; flex-wrap: wrap; gap: 0 4rem }
        figure { margin: 0; overflow-x: auto } svg { display: block; width: 100%; min-width: 46rem; height: auto }
        text { font: 12px system-ui, sans-serif; fill: var(--text) } .month-name { fill: var(--faint) }
        .base, .month { stroke: var(--rule) } .end { text-anchor: end }
        .key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .8em }
        .key:first-child { margin-left: 0 }
        table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums }
        th, td { text-align: left; vertical-align: top; padding: .35rem .6rem; border-bottom: 1px solid var(--rule) }
        th { color: var(--faint); font-weight: 600; background: var(--page); position: sticky; top: 0 }
        td.number, th.number { text-align: right } td.whole { white-space: nowrap } td.any { overflow-wrap: anywhere }
        @media screen and (max-width: 46rem) { body { margin-top: 1rem } }
        @media print {
          body, body.wide { max-width: none; margin: 0; font-size: 10pt }
          th { position: static } h2 { break-after: avoid } tr, li, figure, header { break-inside: avoid }
          table { font-size: 8pt } td { min-width: 0 !important; overflow-wrap: anywhere }
          td.whole { white-space: normal } svg { min-width: 0 } figure { overflow: visible } svg, .key { print-color-adjust: exact }
        }
        """
}
