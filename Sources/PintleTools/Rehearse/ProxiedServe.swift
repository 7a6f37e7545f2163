internal import Pintle
internal import PintleSystem
internal import PintleTestKit

/// A proxy for clients on other devices that answers for the named hosts with one attack after the other, until the user ends
/// the process.
final class ProxiedServe {
    /// One host with a server for each of its attacks.
    private struct Stage {
        let host: RehearsedHost
        let control: AttackServer
        let servers: [AttackServer]
        let sequence: AttackSequence
        let seen: ServedAttacks

        /// Returns the server for a host and port, or `nil` if they do not belong to this stage.
        func server(_ name: String, _ port: UInt16) -> UInt16? {
            if name == host.name.lowercased(), port == host.clientPort {
                return sequence.next().map { servers[$0].port } ?? control.port
            }
            return redirectTarget(name, port)
        }

        /// Returns the server of a place that an attack redirects to, or `nil` if it is none. The next attack may have begun
        /// meanwhile, on another connection.
        func redirectTarget(_ name: String, _ port: UInt16) -> UInt16? {
            for server in servers.prefix(sequence.begun).reversed() {
                let route = server.routes.dropFirst().first { $0.host.lowercased() == name && $0.port == port }
                if let route { return route.server }
            }
            return nil
        }

        /// Counts bytes that the client sent to the host without TLS, for the attack of its last connection.
        func countClear(_ count: Int) {
            let attack = sequence.begun > 0 ? host.attacks[sequence.begun - 1] : host.catalogue.control
            seen.add(AttackConnection(plainByteCount: count), to: attack.id)
        }
    }

    private let invocation: Invocation
    private let proxied: ProxyAddress
    private let authorities: AttackAuthorities
    private let hosts: [RehearsedHost]
    private let kit: RehearsalKit
    private let start = ContinuousClock.now

    private var console: Console { invocation.console }

    init(
        _ invocation: Invocation, hosts: [RehearsedHost], proxied: ProxyAddress, authorities: AttackAuthorities
    ) throws(ToolError) {
        (self.invocation, self.proxied, self.authorities) = (invocation, proxied, authorities)
        // The device has no pin for a second host.
        self.hosts = hosts.map { host in
            var host = host
            host.attacks.removeAll(where: \.needsOtherPin)
            return host
        }
        guard hosts.allSatisfy(\.attacks.isEmpty) || self.hosts.contains(where: { !$0.attacks.isEmpty }) else {
            throw .unusable("nothing-run", "proves nothing: a device has no pin for the second host of these attacks")
        }
        guard let first = hosts.first else { throw .unusable("nothing-run", "proves nothing: no host is named") }
        kit = try RehearsalKit(first.catalogue.cast, hosts: hosts.map(\.name))
    }

    func run() throws(ToolError) -> ExitCode {
        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        var stages: [Stage] = []
        defer { for stage in stages { for server in [stage.control] + stage.servers { server.close() } } }
        let (proxy, page): (AttackProxy, LoopbackTCPServer)
        do {
            // Devices keep their tunnels open for later requests. These must not block other ones for ever.
            let timeLimit = proxied.literal == nil ? AttackServer.timeLimit(at: nil) : 60
            for host in hosts { stages.append(try Self.stage(host, timeLimit: timeLimit)) }
            let fixed = stages
            proxy = try AttackProxy(
                listeningAt: proxied.literal, port: proxied.port, hosts: hosts.map(\.name),
                server: { name, port in
                    for stage in fixed { if let server = stage.server(name, port) { return server } }
                    return nil
                },
                isPlain: { name, port in fixed.contains { $0.redirectTarget(name, port) != nil } },
                clear: { name, count in fixed.first { $0.host.name.lowercased() == name }?.countClear(count) })
            let files = RehearsalFiles(hosts[0].catalogue, kit)
            page = try LoopbackTCPServer.http(
                listeningAt: proxied.literal, timeLimit: AttackServer.timeLimit(at: proxied.literal)
            ) { files.response(to: $0) ?? HTTPResponse(status: 404, reason: "Not Found") }
        } catch {
            throw .unusable(
                "no-server", "the servers cannot be started: \(error)",
                hint: proxied.literal == nil ? nil : "--listen takes a free port at an address of this machine")
        }
        defer { page.close() }
        printHead(proxy, page)
        while !Interrupts.areAsking, !console.outputFailed {
            usleep(50_000)
            printEvents(stages)
        }
        // The servers may not have read the last alerts of the clients yet.
        let deadline = ContinuousClock.now.advanced(by: .seconds(1))
        for server in stages.flatMap({ [$0.control] + $0.servers }) {
            let rest = ContinuousClock.now.duration(to: deadline) / .seconds(1)
            guard rest > 0, server.waitUntilIdle(seconds: rest) else { break }
        }
        // From here on connections end because of this program, and not of the clients.
        for stage in stages { stage.seen.end() }
        proxy.close()
        for stage in stages { for server in [stage.control] + stage.servers { server.close() } }
        printEvents(stages)
        return try conclude(stages, proxy)
    }

    private static func stage(_ host: RehearsedHost, timeLimit: Double?) throws -> Stage {
        let (sequence, seen) = (AttackSequence(host.attacks), ServedAttacks())
        func server(_ attack: Attack, isReplaced: @escaping @Sendable () -> Bool) throws -> AttackServer {
            let isControl = attack.id == host.catalogue.control.id
            return try AttackServer(
                attack, timeLimit: timeLimit, clientPort: host.clientPort, isReplaced: isReplaced
            ) { connection in
                seen.add(connection, to: attack.id)
                // Bytes without TLS are no request to the right server.
                if isControl, (connection.record?.requestByteCount ?? 0) > 0 { sequence.acceptControl() }
            }
        }
        let control = try server(host.catalogue.control) { sequence.hasNext }
        let servers = try host.attacks.map { try server($0) { true } }
        return Stage(host: host, control: control, servers: servers, sequence: sequence, seen: seen)
    }

    /// Prints a line as data, or with `--json` as a message, because standard output then has only the document.
    private func say(_ line: String = "") {
        if invocation.writesJSON { console.printMessage(line) } else { console.print(line) }
    }

    private func printHead(_ proxy: AttackProxy, _ page: LoopbackTCPServer) {
        let files = proxied.url(port: page.port)
        say(
            "serving until Ctrl-C; keys and certificates are made for this run, end in 24 hours, and hold only for the hosts below"
        )
        say()
        say("  proxy      \(proxied.url(port: proxy.port).dropFirst("http://".count))   HTTP and SOCKS5")
        say("  trust      \(files)/authorities.pem   both roots; authority.crt and interceptor.crt for a device")
        say("  pin        \(kit.pin)")
        say("  backup     \(kit.backup)")
        say("  policy     \(files)/policy.json   anchors and pins for Pintle")
        say()
        for host in hosts {
            say(
                "  \(host.authority): the right server first, then \(ValidityText.counted(host.attacks.count, "attack"))"
            )
        }
        say()
    }

    private func printEvents(_ stages: [Stage]) {
        for stage in stages {
            let (events, lost) = stage.seen.removeEvents()
            let place = stages.count > 1 ? "  \(stage.host.name)" : ""
            for event in events { say(place + event.line) }
            if lost > 0 { say(place + "  and \(ValidityText.counted(lost, "connection")) more") }
        }
    }

    private func conclude(_ stages: [Stage], _ proxy: AttackProxy) throws(ToolError) -> ExitCode {
        var (controls, results): ([RehearsalResult], [RehearsalResult]) = ([], [])
        for stage in stages {
            func result(_ attack: Attack, _ connection: Int?) -> RehearsalResult {
                var result = stage.seen.result(attack)
                (result.host, result.connection) = (stage.host.authority, connection)
                if stage.sequence.isUnused {
                    result.remark = RehearsalResult.notAsked
                } else if !stage.sequence.isControlAccepted, result.outcome == .notRun {
                    (result.outcome, result.remark) = (.inconclusive, "it sent the right server no request")
                }
                return result
            }
            controls.append(result(stage.host.catalogue.control, nil))
            for (index, attack) in stage.host.attacks.enumerated() {
                results.append(result(attack, stage.sequence.connection(of: index)))
            }
        }
        let text = RehearsalText(console: console, showsAll: true, namesHosts: stages.count > 1)
        if !invocation.writesJSON {
            console.print()
            for result in results where result.outcome != .notRun {
                for line in text.row(result) { console.print(line) }
            }
        }
        guard controls.contains(where: { $0.outcome == .accepted }) else {
            let others = proxy.refusals.map(\.authority).prefix(5).joined(separator: ", ")
            let isUsed = controls.contains { $0.outcome != .notRun }
            throw .unusable(
                isUsed ? "control-failed" : "proxy-not-used",
                isUsed
                    ? "proves nothing: no request came to the right server"
                    : "proves nothing: \(RehearsalEvidence.missedProxy) for a named host",
                hint: isUsed
                    ? "a client that refuses it refuses everything: does it trust the authorities of this run?"
                    : others.isEmpty
                        ? "does the device use this proxy?"
                        : "it asked for \(SafeText.escape(others)): name these with --host")
        }
        let report = RehearsalReport(
            client: nil, controls: controls, results: results, now: invocation.now,
            duration: start.duration(to: .now), advice: RehearsalAdvice(results, client: nil).lines,
            proxy: RehearsalReport.Proxy(refusals: proxy.refusals, roots: authorities.names))
        return try report.conclude(text, invocation)
    }
}
