internal import Pintle
internal import PintleTestKit

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
