internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintleSystem
internal import PintleTestKit
internal import PintleText

/// `pintle rehearse --proxy --survey -- CLIENT`
final class SurveyCommand {
    private let invocation: Invocation
    private let request: SurveyRequest
    private let hosts: [AttackedHost]
    private let start = ContinuousClock.now

    private var arguments: ParsedArguments { invocation.arguments }
    private var console: Console { invocation.console }

    /// The most times that a client is run. A client that stops at its first refused connection needs two runs for each
    /// host.
    private static let runLimit = 24

    /// - Parameter hosts: The hosts of `--host`.
    init(_ invocation: Invocation, hosts: [AttackedHost]) throws(ToolError) {
        (self.invocation, self.hosts, request) = (invocation, hosts, try SurveyRequest(invocation))
    }

    func run() throws(ToolError) -> ExitCode {
        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        let folder = try TemporaryDirectory.make()
        // Keep the folder until the clients have ended: they read its files.
        defer { withExtendedLifetime(folder) {} }
        let client = Client(arguments.positionals)
        let controlRun = ControlRun(hosts: hosts, folder: folder)
        let acceptance = try controlRun.acceptance(of: client, at: request.proxyAddress, timeout: request.timeout)
        for host in hosts where acceptance.refused.contains(ControlRun.authority(of: host)) {
            console.warn(
                "the client did not accept the right server of \(host.authority): its refusals there are not known to "
                    + "be pins")
        }

        let server = try startServer()
        defer { server.close() }
        let runs =
            arguments.has(.serve)
            ? try serve(server)
            : try run(
                client, values: try controlRun.values(trusting: server.authorities.certificate), through: server,
                acceptance)
        server.waitUntilIdle(seconds: 2)
        server.close()
        let hosts = server.log.hosts(
            acceptingRightServer: acceptance.accepted, inSilence: acceptance.silent, notAccepting: acceptance.refused)
        guard !hosts.isEmpty else {
            throw .unusable(
                "proxy-not-used",
                "proves nothing: "
                    + (server.connectionCount > 0
                        ? "it asked for no host that this proxy understands" : Outcome.missedProxy),
                hint: arguments.has(.serve)
                    ? "does the device use this proxy?"
                    : ToolError.proxyHint)
        }
        return try conclude(
            SurveyReport(
                client: ClientPlace(arguments.positionals), hosts: hosts,
                unsurveyedCount: server.log.unsurveyedCount, unreadableCount: server.log.unreadableCount, runs: runs,
                hasReachedRunLimit: runs == Self.runLimit, judge: request.judge,
                rootName: server.authorities.name,
                reachesDevices: arguments.has(.serve) || request.proxyAddress.isReachable, now: invocation.now,
                duration: start.duration(to: .now)))
    }

    private func startServer() throws(ToolError) -> SurveyServer {
        do {
            return try SurveyServer(
                at: request.proxyAddress, onlyFrom: request.peer, hasRuns: !arguments.has(.serve),
                answers: request.answers,
                authorities: SurveyAuthorities(), hosts: hosts)
        } catch let error as MintingError {
            throw .unusable("no-certificates", "the survey's authorities cannot be made: \(error)")
        } catch {
            throw ToolError(.noServer(error), proxiedAt: request.proxyAddress)
        }
    }

    // MARK: A client that the tool runs

    /// Runs the client until each host has met each authority twice, or comes no more. Then hosts whose connections the
    /// client may only have given up meet the interceptors again, while the others are answered.
    ///
    /// - Returns: the number of runs.
    private func run(
        _ client: Client, values: [String: String], through server: SurveyServer, _ acceptance: ControlRun.Acceptance
    ) throws(ToolError) -> Int {
        let progress = ProgressLine(console, environment: invocation.environment)
        var runs = 0
        func begins() -> Bool {
            server.log.beginRound()
                || server.log.beginTargetedRound(
                    acceptingRightServer: acceptance.accepted, inSilence: acceptance.silent)
        }
        while runs < Self.runLimit, begins() {
            runs += 1
            progress.draw { _ in "run \(runs)" }
            // Connections that the client has ended are read first, so that they do not count as cut.
            let cut = {
                server.waitUntilIdle(seconds: 0.5)
                server.log.cutRound()
            }
            do throws(ClientRunError) {
                let run = try ClientRunner.run(
                    client, values: values, proxy: request.proxyAddress.url(port: server.port),
                    timeout: request.timeout,
                    isCancelled: { Interrupts.areAsking }, beforeCleanup: cut)
                progress.erase()
                if run.end == .timedOut {
                    console.warn("the client was ended after \(Outcome.seconds(request.timeout)) in run \(runs)")
                }
            } catch {
                throw ToolError(error, proxiedAt: request.proxyAddress)
            }
            server.waitUntilIdle(seconds: 2)
        }
        return runs
    }

    // MARK: A client on a device

    /// Serves until the user ends the process. Returns 0, because there are no runs.
    private func serve(_ server: SurveyServer) throws(ToolError) -> Int {
        let page: LoopbackTCPServer
        let files = SurveyFiles(certificate: server.authorities.certificate)
        do {
            page = try LoopbackTCPServer(
                listeningAt: request.proxyAddress.literal, timeLimit: Server.timeLimit(at: request.proxyAddress.literal)
            ) { [peer = request.peer] connection in
                if let peer, !connection.isFrom(peer) { return }
                HTTPService(handler: files.response).serveOnce(connection)
            }
        } catch {
            throw .unusable("no-server", "the page cannot be served: \(error)")
        }
        defer { page.close() }
        printServer(server, page)
        while !Interrupts.areAsking, !console.outputFailed {
            usleep(50_000)
            printEvents(of: server)
        }
        printEvents(of: server)
        return 0
    }

    private func printServer(_ server: SurveyServer, _ page: LoopbackTCPServer) {
        let files = request.proxyAddress.url(port: page.port)
        var report = Report(
            "serving until Ctrl-C; the authority is made for this run, ends in \(SurveyAuthorities.hours) hours, and "
                + "can sign for every name", "")
        report.layout.labelColumns = 8
        report.fact(
            "proxy", "\(request.proxyAddress.url(port: server.port).dropFirst("http://".count))   HTTP and SOCKS5")
        report.fact("trust", "\(files)/authority.pem   authority.crt for a device's browser")
        report.gap()
        say(report)
    }

    private func printEvents(of server: SurveyServer) {
        for event in server.log.removeEvents() {
            say(Report("  \(TextLayout.padded(SafeText.escape(event.authority), to: 34)) \(event.words)"))
        }
    }

    /// Prints a report as data, or as a message if standard output has only a document.
    private func say(_ report: Report) {
        if hasDocument { console.printMessage(report) } else { console.print(report) }
    }

    // MARK: The end

    /// A Boolean value that indicates whether standard output has only a document.
    private var hasDocument: Bool { invocation.writesJSON || arguments.has(.surveyRules) }

    private func conclude(_ report: SurveyReport) throws(ToolError) -> ExitCode {
        let files = ReportFiles(page: report.page, junit: report.junit, sarif: report.sarif)
        let written = files.write(arguments, now: report.now) { () throws(ToolError) -> String? in
            guard let path = request.recordPath else { return nil }
            try OutputFile.replace(path, Array(SurveyExpectation.text(for: report.hosts).utf8))
            return "expected: \(path)"
        }
        if arguments.has(.surveyRules) {
            printRules(for: report.hosts)
            console.printMessage(report.report(files: written.lines))
        } else if invocation.writesJSON {
            console.print(report.document)
        } else {
            invocation.print(report.report(files: written.lines))
        }
        return try written.end(report.exitCode, hasDocument: hasDocument, console)
    }

    private func printRules(for hosts: [SurveyedHost]) {
        let (endpoints, others) = SurveyRules.endpoints(of: hosts)
        for host in others { console.warn("no rule can name \(host.authority)") }
        // Readers accept a policy without rules, so it would pass for a finished one.
        guard !endpoints.isEmpty else { return console.warn("there are no rules, because no host is unpinned") }
        console.print(SurveyRules.document(for: endpoints))
    }
}

/// The files that a device installs.
private struct SurveyFiles: Sendable {
    let certificate: MintedCertificate

    func response(to request: HTTPRequest) -> HTTPResponse {
        switch request.target.prefix(while: { $0 != "?" }) {
        case "/authority.pem": TrustMaterial.file("application/x-pem-file", Array(certificate.pem.utf8))
        // Browsers of iOS and Android hand certificates of this type to the system.
        case "/authority.crt": TrustMaterial.file("application/x-x509-ca-cert", certificate.der)
        default: HTTPResponse(status: 404, reason: "Not Found")
        }
    }
}
