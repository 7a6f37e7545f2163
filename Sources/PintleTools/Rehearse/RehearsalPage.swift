internal import FoundationEssentials
internal import Pintle
internal import PintleTestKit

/// A report as a page that stands alone: no script, nothing from elsewhere, the same words as everywhere.
struct RehearsalPage {
    private let report: RehearsalReport

    init(_ report: RehearsalReport) {
        self.report = report
    }

    var html: String {
        let client = report.client.map { "<p>Client: <code>\(HTMLText.escape($0))</code></p>" } ?? ""
        let isFine = report.exitCode == .fine
        var parts = [
            "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
            "<title>Rehearsal</title>", "<style>", Self.style, "</style>", "</head>", "<body>",
            "<h1>Rehearsal</h1>", client,
            "<p class=\"\(isFine ? "good" : "bad")\">\(HTMLText.escape(report.sentence))</p>",
        ]
        if !report.advice.isEmpty {
            let items = report.advice.map { "<li>\(HTMLText.escape($0))</li>" }
            parts.append("<h2>What to do</h2>\n<ul>\(items.joined())</ul>")
        }
        let columns = [
            "Attack", "Must be", "Was", "Request bytes", "ms", "Exit code", "What the server does", "Remarks",
        ]
        parts.append("<table>\n<thead><tr>\(columns.map { "<th scope=\"col\">\($0)</th>" }.joined())</tr></thead>")
        parts.append("<tbody>")
        parts += ([report.control] + report.results).map(row)
        parts.append("</tbody>\n</table>")
        let omissions = AttackCatalogue.omissions.map {
            "<li><code>\(HTMLText.escape($0.id))</code>: \(HTMLText.escape($0.reason))</li>"
        }
        parts.append("<h2>Not run</h2>\n<ul>\(omissions.joined())</ul>")
        parts.append(
            "<footer><p>Made \(RFC3339.string(from: report.now)) by pintle \(CommandLineTool.version).</p></footer>")
        return (parts + ["</body>", "</html>", ""]).joined(separator: "\n")
    }

    private func row(_ result: RehearsalResult) -> String {
        let kind =
            switch result.outcome {
            case .notRun: "none"
            case .inconclusive: "warning"
            default: result.isAsItMustBe ? "good" : "bad"
            }
        let words = RehearsalText.words(result.clientWords, most: 3)
        let remarks = [
            result.why, result.alert.map { "alert \($0)" },
            result.isAsItMustBe || words.isEmpty ? nil : words.joined(separator: " / "),
        ].compactMap(\.self)
        let isRun = result.outcome != .notRun
        let cells = [
            "<td><code>\(result.attack.id)</code></td>", "<td>\(result.attack.expectation.rawValue)</td>",
            "<td class=\"\(kind)\">\(result.outcome.word)</td>",
            "<td class=\"number\">\(isRun ? "\(result.requestBytes)" : "")</td>",
            "<td class=\"number\">\(result.milliseconds.map { "\($0)" } ?? "")</td>",
            "<td class=\"number\">\(result.clientExit.map { "\($0)" } ?? "")</td>",
            "<td>\(HTMLText.escape(result.attack.summary))<br><small>\(result.attack.reference)</small></td>",
            "<td>\(remarks.map(HTMLText.escape).joined(separator: "<br>"))</td>",
        ]
        return "<tr>\(cells.joined())</tr>"
    }

    private static let style = """
        :root { color-scheme: light dark; --good: #18692e; --warning: #8a5200; --bad: #b3261e; --line: #8886 }
        @media (prefers-color-scheme: dark) { :root { --good: #7cc990; --warning: #e2b15f; --bad: #f2948d } }
        body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 80em; padding: 0 1em }
        h1 { font-size: 1.5em } h2 { font-size: 1.1em; margin-top: 2em }
        .good { color: var(--good) } .warning { color: var(--warning) } .bad { color: var(--bad); font-weight: bold }
        table { border-collapse: collapse; width: 100%; font-size: .9em }
        th, td { text-align: left; vertical-align: top; padding: .3em .6em; border-bottom: 1px solid var(--line) }
        td.number { text-align: right } td:last-child, p code { overflow-wrap: anywhere }
        """
}

/// What a device's browser is shown: links to the servers, what came of each, and the files to install.
struct RehearsalIndex: Sendable {
    private let catalogue: AttackCatalogue
    private let servers: [(attack: Attack, url: String)]
    private let seen: ServedAttacks
    private let anchorsPEM: String
    private let policy: [UInt8]
    private let pins: [String]

    init(
        _ catalogue: AttackCatalogue, _ kit: RehearsalKit, _ servers: [(attack: Attack, url: String)],
        _ seen: ServedAttacks
    ) {
        (self.catalogue, self.servers, self.seen) = (catalogue, servers, seen)
        anchorsPEM = kit.anchorsPEM
        policy = kit.policy.json()
        pins = ["\(kit.pin)", "\(kit.backup)"]
    }

    func response(to request: HTTPRequest) -> HTTPResponse {
        let path = request.target.prefix { $0 != "?" }
        guard request.method == "GET" || request.method == "HEAD" else {
            return HTTPResponse(status: 405, reason: "Method Not Allowed")
        }
        return switch path {
        case "/": Self.file("text/html; charset=utf-8", Array(page.utf8))
        case "/authorities.pem": Self.file("application/x-pem-file", Array(anchorsPEM.utf8))
        // As browsers of iOS and Android hand certificates to the system.
        case "/authority.crt": Self.file("application/x-x509-ca-cert", catalogue.cast.authority.certificate.der)
        case "/interceptor.crt":
            Self.file("application/x-x509-ca-cert", catalogue.cast.otherAuthority.certificate.der)
        case "/policy.json": Self.file("application/json", policy)
        default: HTTPResponse(status: 404, reason: "Not Found")
        }
    }

    private static func file(_ type: String, _ bytes: [UInt8]) -> HTTPResponse {
        HTTPResponse(
            status: 200, reason: "OK",
            fields: [HTTPField("Content-Type", type), HTTPField("Cache-Control", "no-store")], body: bytes)
    }

    private var page: String {
        let rows = servers.map { attack, url in
            let result = seen.result(attack)
            let kind = result.outcome == .notRun ? "none" : result.isAsItMustBe ? "good" : "bad"
            let link = "<a href=\"\(HTMLText.escape(url))\" rel=\"noreferrer\">\(HTMLText.escape(attack.id))</a>"
            let was = result.outcome == .notRun ? "" : result.outcome.word
            return "<tr><td>\(link)<br><small>\(HTMLText.escape(attack.summary))</small></td>"
                + "<td>\(attack.expectation.rawValue)</td><td class=\"\(kind)\">\(was)</td></tr>"
        }
        let policy = "default-src 'none'; style-src 'unsafe-inline'"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Rehearsal</title>
            <style>
            :root { color-scheme: light dark; --good: #18692e; --bad: #b3261e; --line: #8886 }
            @media (prefers-color-scheme: dark) { :root { --good: #7cc990; --bad: #f2948d } }
            body { font: 16px/1.45 system-ui, sans-serif; margin: 1em auto; max-width: 50em; padding: 0 1em }
            .good { color: var(--good) } .bad { color: var(--bad); font-weight: bold }
            table { border-collapse: collapse; width: 100% } code { overflow-wrap: anywhere }
            th, td { text-align: left; vertical-align: top; padding: .4em .5em; border-bottom: 1px solid var(--line) }
            </style>
            </head>
            <body>
            <h1>Rehearsal</h1>
            <p>Trust both on a device for tests alone, and remove them afterwards:
            <a href="/authority.crt">the app's authority</a>,
            <a href="/interceptor.crt">the interceptor's</a>,
            or <a href="/authorities.pem">both in PEM</a>.
            For Pintle: <a href="/policy.json">the policy</a>.</p>
            <p>Pins: <code>\(pins.joined(separator: "</code>, <code>"))</code></p>
            <p>Send the app, not this browser, to each address. Reload to see what came of it.</p>
            <table>
            <thead><tr><th scope="col">Server</th><th scope="col">Must be</th><th scope="col">Was</th></tr></thead>
            <tbody>
            \(rows.joined(separator: "\n"))
            </tbody>
            </table>
            </body>
            </html>

            """
    }
}
