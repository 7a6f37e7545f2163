internal import FoundationEssentials
internal import Pintle
internal import PintleCrypto

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
