internal import FoundationEssentials
internal import Pintle
internal import PintleTestKit

/// One rehearsal, which starts the client again for each server.
final class RehearsalRun {
    private let invocation: Invocation
    private let catalogue: AttackCatalogue
    private let attacks: [Attack]
    private let client: ClientCommand
    private let timeout: Double
    private let start = ContinuousClock.now

    private var console: Console { invocation.console }

    init(
        _ invocation: Invocation, catalogue: AttackCatalogue, attacks: [Attack], client: ClientCommand,
        timeout: Double
    ) {
        (self.invocation, self.catalogue, self.attacks) = (invocation, catalogue, attacks)
        (self.client, self.timeout) = (client, timeout)
    }

    func run() throws(ToolError) -> ExitCode {
        let interrupts = Interrupts()
        defer { withExtendedLifetime(interrupts) {} }
        let folder: TemporaryDirectory
        do { folder = try TemporaryDirectory() } catch { throw .unusable("unwritable-file", "\(error)") }
        // Keep the folder until the clients have ended: they read its files.
        defer { withExtendedLifetime(folder) {} }
        let values = try RehearsalKit(catalogue.cast).values(folder: folder)
        let text = RehearsalText(console: console, showsAll: invocation.isVerbose)

        let (controlEvidence, controlProcess) = try play(catalogue.control, values)
        guard let judge = RehearsalJudge(control: controlEvidence) else {
            throw provesNothing(controlEvidence, controlProcess)
        }
        let control = result(
            catalogue.control, (.accepted, nil), controlEvidence, controlProcess)
        if !invocation.writesJSON { for line in text.control(control) { console.print(line) } }
        if !judge.endsWell {
            console.warn(
                "the client sends the right server its request and then "
                    + (controlEvidence.clientExit.map { "ends with exit code \($0)" } ?? "does not end")
                    + "; what counts is what servers get")
            printOutput(of: controlProcess, most: 3)
        }

        var results: [RehearsalResult] = []
        for (index, attack) in attacks.enumerated() {
            text.progress(attack, index, of: attacks.count, after: start.duration(to: .now))
            if let obstacle = judge.obstacle(to: attack, for: client) {
                results.append(RehearsalResult(attack: attack, outcome: .notRun, remark: obstacle))
            } else {
                let (evidence, process) = try play(attack, values)
                results.append(result(attack, judge.judge(attack, evidence), evidence, process))
            }
            text.eraseProgress()
            if !invocation.writesJSON, let result = results.last {
                for line in text.row(result) { console.print(line) }
            }
        }
        let report = RehearsalReport(
            client: client.line, control: control, results: results, now: invocation.now,
            duration: start.duration(to: .now), advice: RehearsalAdvice(results, client: client).lines)
        return try report.conclude(text, invocation)
    }

    /// Starts the server and the client. Both have ended when this returns.
    private func play(
        _ attack: Attack, _ values: [String: String]
    ) throws(ToolError) -> (RehearsalEvidence, GuardedProcess) {
        let server: AttackServer
        do {
            server = try AttackServer(attack)
        } catch {
            throw .unusable("no-server", "a server cannot be started on loopback: \(error)")
        }
        defer { server.close() }
        var values = OtherHostKit.values(values, for: attack)
        values["url"] = server.url
        values["host"] = catalogue.cast.host
        values["port"] = "\(server.port)"
        var wasOver = false
        let process: GuardedProcess
        do throws(SystemCallError) {
            process = try GuardedProcess.run(
                client.words(values), without: Self.proxyVariables, timeout: timeout, outputLimit: 64 << 10,
                isCancelled: { Interrupts.areAsking }, willKill: { wasOver = server.observation().isOver })
        } catch {
            throw .unusable(
                "no-client", "the client cannot be run: \(error)",
                hint: "name a program that is on the PATH, or write ./client; for a line of shell: sh -c '... {url}'")
        }
        guard process.end != .cancelled else { throw .unusable("interrupted", "interrupted") }
        let isQuiet = server.waitUntilQuiet()
        return (
            RehearsalEvidence(
                observation: server.observation(), end: process.end, wasOverWhenKilled: wasOver, isQuiet: isQuiet,
                timeout: timeout),
            process
        )
    }

    /// The environment variables that would send the client to a proxy.
    private static let proxyVariables: Set<String> = [
        "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy",
    ]

    private func result(
        _ attack: Attack, _ verdict: (RehearsalOutcome, remark: String?), _ evidence: RehearsalEvidence,
        _ process: GuardedProcess
    ) -> RehearsalResult {
        RehearsalResult(
            attack: attack, outcome: verdict.0, requestBytes: evidence.observation.exposedByteCount,
            milliseconds: process.milliseconds, clientExit: evidence.clientExit,
            alert: evidence.observation.alert.map { "\($0)" },
            applicationProtocol: evidence.observation.applicationProtocol, remark: verdict.remark,
            clientWords: process.stderr.isEmpty ? process.stdout : process.stderr)
    }

    /// The last lines that the client wrote.
    private func printOutput(of process: GuardedProcess, most: Int) {
        for line in RehearsalText.words(process.stderr.isEmpty ? process.stdout : process.stderr, most: most) {
            console.printMessage("  " + line)
        }
    }

    /// Prints the client's own words and returns the error.
    private func provesNothing(_ evidence: RehearsalEvidence, _ process: GuardedProcess) -> ToolError {
        printOutput(of: process, most: 20)
        var hint = "as it was run: " + client.line
        let message: String
        switch evidence.end {
        case .timedOut where evidence.observation.connections.isEmpty:
            message = "\(evidence.ended) before it connected to the right server"
            hint = "\(RehearsalEvidence.remedy); " + hint
        case _ where evidence.observation.connections.isEmpty:
            message = "the client did not connect to the right server"
        case .timedOut: message = "the client did not end within \(RehearsalEvidence.seconds(timeout))"
        default:
            message = "the client refused even the valid server"
            if !client.uses("ca"), !client.uses("policy") {
                hint = "does it trust the rehearsal's authorities? {ca} is their file, as in curl --cacert {ca}"
            }
        }
        let end = evidence.clientExit.map { " (exit code \($0))" } ?? ""
        return .unusable("control-failed", "proves nothing: \(message)\(end)", hint: hint)
    }
}

/// The facts about the right server that a client needs: the anchors to trust, and the pins.
struct RehearsalKit {
    let anchorsPEM: String
    let pin: PublicKeyPin
    let backup: PublicKeyPin
    let issuer: PublicKeyPin
    let policy: PinningPolicy
    let other: OtherHostKit?

    init(_ cast: AttackCast) throws(ToolError) {
        anchorsPEM = cast.anchorsPEM
        do {
            pin = try PublicKeyPin(subjectPublicKeyInfo: cast.genuine.certificate.spkiDER)
            backup = try PublicKeyPin(subjectPublicKeyInfo: cast.backup.spkiDER)
            issuer = try PublicKeyPin(subjectPublicKeyInfo: cast.intermediate.certificate.spkiDER)
            let anchors = try [cast.authority, cast.otherAuthority].map { try Certificate(der: $0.certificate.der) }
            let rule = try PinnedHost(
                cast.host, pins: [Pin(.publicKey(pin))], backupPins: [Pin(.publicKey(backup))],
                anchors: .only(anchors))
            policy = try PinningPolicy(hosts: [rule], unpinnedHosts: .reject)
            other = try OtherHostKit(cast, anchors: .only(anchors), beside: rule)
        } catch {
            throw .unusable("no-certificates", "the certificates of the attacks cannot be read: \(error)")
        }
    }

    /// Returns the values of the placeholders that are the same at every server.
    func values(folder: TemporaryDirectory) throws(ToolError) -> [String: String] {
        var values: [String: String] = [:]
        do {
            values["ca"] = try folder.write(anchorsPEM, to: "authorities.pem")
            values["policy"] = try folder.write(policy.json(), to: "policy.json")
            try other?.add(to: &values, folder: folder)
        } catch {
            throw .unusable("unwritable-file", "\(error)")
        }
        for (name, pin) in [("pin", pin), ("backup", backup), ("issuer", issuer)] {
            values["\(name)-base64"] = Self.base64(pin)
            values[name] = Self.curl(pin)
        }
        values["pins"] = Self.curl(pin) + ";" + Self.curl(backup)
        return values
    }

    static func base64(_ pin: PublicKeyPin) -> String { String("\(pin)".dropFirst("sha256/".count)) }

    /// Returns a pin in the form that curl's `--pinnedpubkey` takes.
    static func curl(_ pin: PublicKeyPin) -> String { "sha256//" + base64(pin) }
}

/// The command line of a client, with placeholders whose values are known only when a server is up.
struct ClientCommand {
    let words: [String]

    init(_ words: [String]) throws(ToolError) {
        self.words = words
        // A client that does not connect to the server would count as blocked and prove nothing.
        guard uses("url") || uses("port") else {
            throw .unusable(
                "no-placeholder", "the client is not told where the server is",
                hint: "put {url}, or {host} and {port}, where it takes an address: pintle rehearse -- curl {url}")
        }
    }

    /// The command line as a user types it.
    var line: String { words.map(ShellWord.quoted).joined(separator: " ") }

    func uses(_ name: String) -> Bool { words.contains { $0.contains("{\(name)}") } }

    /// Boolean values that indicate whether the client gets the pin and the backup pin in any form.
    var isTold: (pin: Bool, backup: Bool) {
        let both = uses("pins") || uses("policy")
        return (
            both || uses("pin") || uses("pin-base64") || uses("issuer") || uses("issuer-base64"),
            both || uses("backup") || uses("backup-base64") || uses("issuer") || uses("issuer-base64")
        )
    }

    /// Returns the words for a server. Inserted values are not searched for placeholders, and other braces stay.
    func words(_ values: [String: String]) -> [String] {
        words.map { word in
            var result = ""
            var rest = word[...]
            while let brace = rest.firstIndex(of: "{") {
                result += rest[..<brace]
                rest = rest[brace...]
                let name = rest.dropFirst().prefix { $0 != "}" && $0 != "{" }
                if let value = values[String(name)], name.endIndex < rest.endIndex, rest[name.endIndex] == "}" {
                    result += value
                    rest = rest[rest.index(after: name.endIndex)...]
                } else {
                    result += "{"
                    rest = rest.dropFirst()
                }
            }
            return result + rest
        }
    }
}
