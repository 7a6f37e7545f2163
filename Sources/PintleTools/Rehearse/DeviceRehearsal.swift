internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintleSystem
internal import PintleTestKit
internal import PintleText

/// A rehearsal with clients that the user starts, on this machine or on other devices, until the user ends the process.
final class DeviceRehearsal {
    private let invocation: Invocation
    private let hosts: [AttackedHost]
    private let material: TrustMaterial
    private let start = ContinuousClock.now
    private var servers: [Server] = []
    /// The connections, with the host if there are several.
    private var logs: [(host: String?, log: ConnectionLog)] = []

    private var console: Console { invocation.console }

    init(_ invocation: Invocation, hosts: [AttackedHost]) throws(ToolError) {
        self.invocation = invocation
        self.hosts = try Self.hosts(
            hosts, withoutAttacks: \.needsIdentity, because: "a device has no certificate of this rehearsal")
        guard let first = hosts.first else { throw .unusable("nothing-run", "proves nothing: no host is named") }
        material = try TrustMaterial(first.catalogue.certificates, hosts: hosts.map(\.name))
    }

    /// Returns the hosts without the attacks that prove nothing about a device.
    ///
    /// - Parameter reason: the message of the error if no attack is left.
    private static func hosts(
        _ hosts: [AttackedHost], withoutAttacks isLeftOut: (Scenario) -> Bool, because reason: String
    ) throws(ToolError) -> [AttackedHost] {
        let reached = hosts.map { host in
            var host = host
            host.scenarios.removeAll(where: isLeftOut)
            return host
        }
        guard hosts.allSatisfy(\.scenarios.isEmpty) || reached.contains(where: { !$0.scenarios.isEmpty }) else {
            throw .unusable("nothing-run", "proves nothing: \(reason)")
        }
        return reached
    }

    // MARK: Each attack at a port of its own

    /// Serves all attacks at once.
    ///
    /// - Parameter address: An IPv4 or IPv6 literal; `nil` for loopback.
    func serve(at address: String?) throws(ToolError) -> ExitCode {
        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        let (host, log) = (hosts[0], ConnectionLog())
        logs = [(nil, log)]
        let page: LoopbackTCPServer
        do {
            for scenario in [host.catalogue.control] + host.scenarios {
                servers.append(
                    try Server(scenario, listeningAt: address, observer: { log.add($0, to: scenario.id) }))
            }
            let index = DevicePage(
                material: material, servers: servers.map { ($0.scenario, $0.url) }, log: log, now: invocation.now)
            page = try LoopbackTCPServer.http(
                listeningAt: address, timeLimit: Server.timeLimit(at: address)
            ) { index.response(to: $0) }
        } catch {
            throw .unusable(
                "no-server", "the servers cannot be started: \(error)",
                hint: address == nil ? nil : "--listen takes an address of this machine")
        }
        defer { page.close() }
        printServers(host.name, page, address)
        waitForEnd()
        for server in servers { server.close() }
        printEvents()
        let control = log.outcome(of: host.catalogue.control)
        let outcomes = host.scenarios.map { log.outcome(of: $0) }
        print(outcomes, RehearsalRows(showsAll: true))
        guard control.verdict == .accepted else {
            throw .unusable(
                "control-failed", "proves nothing: no request came to the right server, \"control\"",
                hint: "a client that refuses it refuses everything: does it trust the authorities of this run?")
        }
        return try report([control], outcomes).conclude(after: nil, invocation)
    }

    private func printServers(_ host: String, _ page: LoopbackTCPServer, _ address: String?) {
        if let address, Proxy.Address(address).isReachable {
            console.warn(
                "everyone who reaches \(address) reaches these servers; a device that trusts their authorities trusts "
                    + "whatever this process signs: install them on devices for tests, and remove them afterwards")
        }
        let authority = Proxy.authority(host, page.port)
        var report = Report("serving until Ctrl-C; keys and certificates are made for this run and gone with it", "")
        report.layout.labelColumns = 11
        report.fact("page", "http://\(authority)/   links, and the files to install")
        report.fact("trust", "http://\(authority)/authorities.pem   both roots")
        report.fact("pin", "\(material.pin)")
        report.fact("backup", "\(material.backup)")
        if let other = material.other { report.fact("other pin", "\(other.pin) of \(other.host)") }
        report.fact("policy", "http://\(authority)/policy.json   anchors and pins for Pintle")
        report.gap()
        report.layout.labelColumns = 30
        for server in servers {
            let mustBe = TextLayout.padded(server.scenario.expectation.rawValue, to: 10)
            report.fact("\(server.scenario.id)", "\(mustBe)\(server.url)")
        }
        report.gap()
        say(report)
    }

    // MARK: One attack after another, through a proxy

    /// Runs a proxy that answers for the named hosts with one attack after the other.
    func serve(throughProxyAt address: Proxy.Address, roots: [String]) throws(ToolError) -> ExitCode {
        let reached = try Self.hosts(
            hosts, withoutAttacks: \.needsSecondPin, because: "a device has no pin for the second host of these attacks"
        )
        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        var sequences: [ServerSequence] = []
        let traffic = Traffic()
        let (proxy, page): (Proxy, LoopbackTCPServer)
        do {
            // Devices keep their tunnels open for later requests. These must not block other ones for ever.
            let timeLimit = address.literal == nil ? Server.timeLimit(at: nil) : 60
            for host in reached {
                sequences.append(try ServerSequence(host, timeLimit: timeLimit, traffic: traffic))
                servers = sequences.flatMap(\.allServers)
            }
            proxy = try ServerSequence.proxy(for: sequences, at: address)
            page = try LoopbackTCPServer.http(
                listeningAt: address.literal, timeLimit: Server.timeLimit(at: address.literal)
            ) { [material] in material.file($0) ?? HTTPResponse(status: 404, reason: "Not Found") }
        } catch {
            throw .unusable(
                "no-server", "the servers cannot be started: \(error)",
                hint: address.literal == nil ? nil : "--listen takes a free port at an address of this machine")
        }
        defer { page.close() }
        logs = sequences.map { (sequences.count > 1 ? $0.host.name : nil, $0.log) }
        printProxy(address, proxy, page, reached)
        waitForEnd()
        proxy.close()
        for server in servers { server.close() }
        printEvents()
        let ends = sequences.map(\.outcomes)
        let (controls, outcomes) = (ends.map(\.control), ends.flatMap(\.scenarios))
        print(outcomes, RehearsalRows(showsAll: true, namesHosts: sequences.count > 1))
        guard controls.contains(where: { $0.verdict == .accepted || $0.wasPlainHTTP }) else {
            throw unaccepted(controls, proxy)
        }
        return try report(controls, outcomes, proxy: .init(unlistedHosts: proxy.unlistedHosts, roots: roots))
            .conclude(after: nil, invocation)
    }

    private func printProxy(
        _ address: Proxy.Address, _ proxy: Proxy, _ page: LoopbackTCPServer, _ hosts: [AttackedHost]
    ) {
        let files = address.url(port: page.port)
        var report = Report(
            "serving until Ctrl-C; keys and certificates are made for this run, end in 24 hours, "
                + "and hold only for the hosts below",
            "")
        report.layout.labelColumns = 11
        report.fact("proxy", "\(address.url(port: proxy.port).dropFirst("http://".count))   HTTP and SOCKS5")
        report.fact("trust", "\(files)/authorities.pem   both roots; authority.crt and interceptor.crt for a device")
        report.fact("pin", "\(material.pin)")
        report.fact("backup", "\(material.backup)")
        report.fact("policy", "\(files)/policy.json   anchors and pins for Pintle")
        report.gap()
        for host in hosts {
            let count = ValidityText.counted(host.scenarios.count, "attack")
            report.line("  \(host.authority): the right server first, then \(count)")
        }
        report.gap()
        say(report)
    }

    private func unaccepted(_ controls: [Outcome], _ proxy: Proxy) -> ToolError {
        let others = proxy.unlistedHosts.map(\.authority).prefix(5).joined(separator: ", ")
        guard controls.allSatisfy({ $0.verdict == .notRun }) else {
            return .unusable(
                "control-failed", "proves nothing: no request came to the right server",
                hint: "a client that refuses it refuses everything: does it trust the authorities of this run?")
        }
        return .unusable(
            "proxy-not-used", "proves nothing: \(Outcome.missedProxy) for a named host",
            hint: others.isEmpty
                ? "does the device use this proxy?"
                : "it asked for \(SafeText.escape(others)): name these with --host")
    }

    // MARK: Both

    /// Prints connections until the user ends the process.
    private func waitForEnd() {
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
        // From here on connections end because of this program, and not of the clients.
        for (_, log) in logs { log.end() }
    }

    /// Prints a report as data, or with `--json` as a message, because standard output then has only the document.
    private func say(_ report: Report) {
        if invocation.writesJSON { console.printMessage(report) } else { console.print(report) }
    }

    private func printEvents() {
        for (host, log) in logs {
            let (events, lost) = log.removeEvents()
            let place = host.map { "  " + $0 } ?? ""
            for event in events { say(Report("\(place)\(event.line)")) }
            if lost > 0 { say(Report("\(place)  and \(ValidityText.counted(lost, "connection")) more")) }
        }
    }

    private func print(_ outcomes: [Outcome], _ rows: RehearsalRows) {
        guard !invocation.writesJSON else { return }
        var rows = rows
        invocation.print(Report(""))
        for outcome in outcomes where outcome.verdict != .notRun { invocation.print(rows.row(outcome)) }
    }

    private func report(
        _ controls: [Outcome], _ outcomes: [Outcome], proxy: RehearsalReport.ProxyFacts? = nil
    ) -> RehearsalReport {
        RehearsalReport(
            client: nil, controls: controls, outcomes: outcomes, now: invocation.now,
            duration: start.duration(to: .now), advice: RehearsalAdvice(outcomes, client: nil).lines, proxy: proxy,
            notChosen: ScenarioChoice(invocation.arguments).left(of: hosts[0].catalogue),
            isStrict: invocation.arguments.has(.strictAnswers))
    }
}

extension ConnectionLog.Event {
    /// `  trusted-interceptor           handshake finished, 78 request bytes`
    fileprivate var line: String {
        let head = "  " + TextLayout.padded(id, to: 30)
        let bytes = ValidityText.counted(connection.requestByteCount, "request byte")
        guard let record = connection.record, record.clearByteCount == 0 else { return head + "in the clear, \(bytes)" }
        let alert = record.alertsReceived.last(where: \.isFatal)
        if record.isHandshakeComplete {
            let version = record.applicationProtocol == "h2" ? " over HTTP/2" : ""
            return head + "handshake finished, \(bytes)\(version)" + (alert.map { ", then alert \($0)" } ?? "")
                + (connection.role == .attack ? "" : ", on the way there")
        }
        if let alert { return head + (alert.refusesCertificate ? "refused" : "no handshake") + ": alert \(alert)" }
        return head + "no handshake: " + (record.handshakeFailure ?? "the client hung up")
    }
}

/// The pages for a device's browser: links to the servers, their outcomes so far, and the files to install.
struct DevicePage: Sendable {
    let material: TrustMaterial
    let servers: [(scenario: Scenario, url: String)]
    let log: ConnectionLog
    let now: Date

    func response(to request: HTTPRequest) -> HTTPResponse {
        let path = request.target.prefix { $0 != "?" }
        guard request.method == "GET" || request.method == "HEAD" else {
            return HTTPResponse(status: 405, reason: "Method Not Allowed")
        }
        if path == "/", let page { return TrustMaterial.file("text/html; charset=utf-8", Array(page.utf8)) }
        return material.file(request) ?? HTTPResponse(status: 404, reason: "Not Found")
    }

    private var page: String? {
        var html = ""
        let page = ReportPage(
            kind: "Rehearsal of attacks", result: "\(ValidityText.counted(servers.count, "server")) for your app",
            verdict: nil,
            facts: [
                "Send the app, not this browser, to each address, first to the control. Reload to see the results."
            ],
            report: report)
        do throws(ToolError) {
            try ReportHTML(page, date: now).write { html += $0 }
        } catch {
            return nil
        }
        return html
    }

    private var report: Report {
        var report = Report()
        report.fact(
            "files",
            """
            Trust both authorities only on a device for tests, and remove them afterwards: \
            \("the app's authority", .link("/authority.crt")), \("the interceptor's", .link("/interceptor.crt")), \
            or \("both in PEM", .link("/authorities.pem")). For Pintle: \("the policy", .link("/policy.json")).
            """)
        report.fact("pin", "\(material.pin, .code)")
        report.fact("backup", "\(material.backup, .code)")
        if let other = material.other { report.fact("other pin", "\(other.pin, .code) of \(other.host)") }
        let rows = servers.map { scenario, url -> [Report.Table.Cell] in
            let outcome = log.outcome(of: scenario)
            return [
                .init(lines: ["\(scenario.id, .link(url))", "\(url, .code)", "\(scenario.summary, .dim)"]),
                .init(lines: ["\(scenario.expectation.rawValue)"]),
                outcome.verdict == .notRun ? .init() : .init(lines: ["\(outcome.verdict.word)"], mark: outcome.mark),
            ]
        }
        report.table(
            Report.Table(
                id: "servers", columns: ["Server", "Must be", "Was"].map { .init(title: $0) }, narrow: 30,
                rows: .all(rows)))
        return report
    }
}
