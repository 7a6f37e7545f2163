internal import Pintle
internal import PintleSystem
internal import PintleTestKit

/// Serves all attacks at once for clients on other devices, until the user ends the process.
final class RehearsalServe {
    private let invocation: Invocation
    private let catalogue: AttackCatalogue
    private let kit: RehearsalKit
    private let attacks: [Attack]
    /// An IPv4 or IPv6 literal; `nil` for loopback.
    private let address: String?
    private let seen = ServedAttacks()
    private let start = ContinuousClock.now

    private var console: Console { invocation.console }
    private var host: String { catalogue.cast.host }

    init(
        _ invocation: Invocation, catalogue: AttackCatalogue, attacks: [Attack], address: String?
    ) throws(ToolError) {
        (self.invocation, self.catalogue, self.attacks) = (invocation, catalogue, attacks)
        self.address = address
        kit = try RehearsalKit(catalogue.cast)
    }

    func run() throws(ToolError) -> ExitCode {
        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        var servers: [AttackServer] = []
        defer { for server in servers { server.close() } }
        let page: LoopbackTCPServer
        do {
            for attack in [catalogue.control] + attacks {
                let seen = seen
                servers.append(
                    try AttackServer(attack, listeningAt: address, observer: { seen.add($0, to: attack.id) }))
            }
            let index = RehearsalIndex(catalogue, kit, servers.map { ($0.attack, $0.url) }, seen, now: invocation.now)
            page = try LoopbackTCPServer.http(
                listeningAt: address, timeLimit: AttackServer.timeLimit(at: address)
            ) { index.response(to: $0) }
        } catch {
            throw .unusable(
                "no-server", "the servers cannot be started: \(error)",
                hint: address == nil ? nil : "--listen takes an address of this machine")
        }
        defer { page.close() }
        printServers(servers, page)
        while !Interrupts.areAsking, !console.outputFailed {
            usleep(50_000)
            printEvents()
        }
        // The servers may not have read the last alerts of the clients yet.
        let deadline = ContinuousClock.now.advanced(by: .seconds(1))
        for server in servers {
            let rest = ContinuousClock.now.duration(to: deadline) / .seconds(1)
            guard rest > 0, server.waitUntilIdle(seconds: rest) else { break }
        }
        seen.end()
        for server in servers { server.close() }
        printEvents()
        return try conclude()
    }

    /// Prints a line as data, or with `--json` as a message, because standard output then has only the document.
    private func say(_ line: String = "") {
        if invocation.writesJSON { console.printMessage(line) } else { console.print(line) }
    }

    private func printServers(_ servers: [AttackServer], _ page: LoopbackTCPServer) {
        if let address, address != "127.0.0.1", address != "::1" {
            console.warn(
                "everyone who reaches \(address) reaches these servers; a device that trusts their authorities trusts "
                    + "whatever this process signs: install them on devices for tests, and remove them afterwards")
        }
        let authority = host.contains(":") ? "[\(host)]:\(page.port)" : "\(host):\(page.port)"
        say("serving until Ctrl-C; keys and certificates are made for this run and gone with it")
        say()
        say("  page       http://\(authority)/   links, and the files to install")
        say("  trust      http://\(authority)/authorities.pem   both roots")
        say("  pin        \(kit.pin)")
        say("  backup     \(kit.backup)")
        if let other = kit.other { say("  other pin  \(other.pin) of \(other.host)") }
        say("  policy     http://\(authority)/policy.json   anchors and pins for Pintle")
        say()
        for server in servers {
            let mustBe = TextLayout.padded(server.attack.expectation.rawValue, to: 10)
            say("  " + TextLayout.padded(server.attack.id, to: 30) + mustBe + server.url)
        }
        say()
    }

    private func printEvents() {
        let (events, lost) = seen.removeEvents()
        for event in events { say(event.line) }
        if lost > 0 { say("  and \(ValidityText.counted(lost, "connection")) more") }
    }

    private func conclude() throws(ToolError) -> ExitCode {
        let control = seen.result(catalogue.control)
        let results = attacks.map { seen.result($0) }
        let text = RehearsalText(console: console, showsAll: true)
        if !invocation.writesJSON {
            console.print()
            for result in results where result.outcome != .notRun {
                for line in text.row(result) { console.print(line) }
            }
        }
        guard control.outcome == .accepted else {
            throw .unusable(
                "control-failed", "proves nothing: no request came to the right server, \"control\"",
                hint: "a client that refuses it refuses everything: does it trust the authorities of this run?")
        }
        let report = RehearsalReport(
            client: nil, controls: [control], results: results, now: invocation.now,
            duration: start.duration(to: .now), advice: RehearsalAdvice(results, client: nil).lines)
        return try report.conclude(text, invocation)
    }
}

/// The pages for a device's browser: links to the servers, their results so far, and the files to install.
struct RehearsalIndex: Sendable {
    private let catalogue: AttackCatalogue
    private let servers: [(attack: Attack, url: String)]
    private let seen: ServedAttacks
    private let files: RehearsalFiles
    private let pins: [String]
    private let now: Date

    init(
        _ catalogue: AttackCatalogue, _ kit: RehearsalKit, _ servers: [(attack: Attack, url: String)],
        _ seen: ServedAttacks, now: Date
    ) {
        (self.catalogue, self.servers, self.seen) = (catalogue, servers, seen)
        self.now = now
        files = RehearsalFiles(catalogue, kit)
        pins = ["\(kit.pin)", "\(kit.backup)"]
    }

    func response(to request: HTTPRequest) -> HTTPResponse {
        let path = request.target.prefix { $0 != "?" }
        guard request.method == "GET" || request.method == "HEAD" else {
            return HTTPResponse(status: 405, reason: "Method Not Allowed")
        }
        if path == "/" { return RehearsalFiles.file("text/html; charset=utf-8", Array(page.utf8)) }
        return files.response(to: request) ?? HTTPResponse(status: 404, reason: "Not Found")
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
