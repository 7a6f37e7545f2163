internal import FoundationEssentials
internal import Pintle
internal import PintleTestKit

/// The pages for a device's browser: links to the servers, their results so far, and the files to install.
struct RehearsalIndex: Sendable {
    private let catalogue: AttackCatalogue
    private let servers: [(attack: Attack, url: String)]
    private let seen: ServedAttacks
    private let anchorsPEM: String
    private let policy: [UInt8]
    private let pins: [String]
    private let now: Date

    init(
        _ catalogue: AttackCatalogue, _ kit: RehearsalKit, _ servers: [(attack: Attack, url: String)],
        _ seen: ServedAttacks, now: Date
    ) {
        (self.catalogue, self.servers, self.seen) = (catalogue, servers, seen)
        self.now = now
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

    private static let table = ReportTable(id: "servers", columns: ["Server", "Must be", "Was"], widthLimit: 30)

    private var page: String {
        let rows = servers.map { attack, url in
            let result = seen.result(attack)
            let link = "<a href=\"\(HTMLText.escape(url))\" rel=\"noreferrer\">\(HTMLText.escape(attack.id))</a>"
            let cells = [
                ReportTable.cell("\(link)<br><small>\(HTMLText.escape(attack.summary))</small>"),
                ReportTable.cell(attack.expectation.rawValue),
                ReportTable.cell(result.outcome == .notRun ? "" : result.outcome.word, result.verdict.rawValue),
            ]
            return "<tr>\(cells.joined())</tr>\n"
        }
        let page = ReportPage(
            kind: "Rehearsal of attacks", result: "\(ValidityText.counted(servers.count, "server")) for your app",
            verdict: .none,
            facts: ["Send the app, not this browser, to each address. Reload to see the results."],
            style: Self.table.style)
        return page.head + """
            <p>Trust both authorities only on a device for tests, and remove them afterwards:
            <a href="/authority.crt">the app's authority</a>,
            <a href="/interceptor.crt">the interceptor's</a>,
            or <a href="/authorities.pem">both in PEM</a>.
            For Pintle: <a href="/policy.json">the policy</a>.</p>
            <p>Pins: <code>\(pins.joined(separator: "</code>, <code>"))</code></p>

            """ + Self.table.head + rows.joined() + Self.table.foot + page.foot(now)
    }
}
