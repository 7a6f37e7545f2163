internal import Pintle

/// Losses for people and for scripts.
struct LossReport {
    let losses: LossList
    /// The name of the format: `ats`.
    let format: ForeignFormat

    /// Prints every loss to standard error, those that weaken first.
    func write(to console: Console, isVerbose: Bool) {
        guard !losses.losses.isEmpty else { return }
        let counts = PolicyLoss.Effect.allCases.compactMap { effect in
            let count = losses.count(effect)
            return count == 0 ? nil : "\(count) \(effect.rawValue)"
        }
        console.printMessage("\(format.rawValue): \(counts.joined(separator: ", "))")
        for loss in losses.sorted {
            console.printMessage()
            let word = loss.effect == .weaker ? "WEAKER" : loss.effect.rawValue
            console.printMessage("  \(TextLayout.padded(word, to: 8))  \(loss.kind.rawValue)")
            for line in TextLayout.wrapped(loss.message, width: 76) { console.printMessage("    \(line)") }
            if !loss.hosts.isEmpty {
                let hosts = isVerbose ? loss.hosts.joined(separator: ", ") : TextLayout.list(loss.hosts, width: 72)
                console.printMessage("    in: \(hosts)")
            }
        }
    }

    func write(to json: inout JSONWriter) {
        json.array("losses") { json in
            for loss in losses.sorted {
                json.object { json in
                    json.member("id", loss.kind.rawValue)
                    json.member("effect", loss.effect.rawValue)
                    json.member("message", loss.message)
                    if !loss.hosts.isEmpty { json.member("hosts", loss.hosts) }
                }
            }
        }
    }

    /// Refuses under `--strict` to write a policy that would accept more.
    ///
    /// - Returns: true if it refused and a JSON document says so. The exit code is then 1.
    /// - Throws: an error with exit code 1, if no document is asked for.
    func refusesWeaker(_ invocation: Invocation) throws(ToolError) -> Bool {
        let count = losses.count(.weaker)
        guard invocation.arguments.has(.strict), count > 0 else { return false }
        if invocation.writesJSON {
            var json = JSONWriter(.pretty)
            json.object { json in
                json.member("format", format.rawValue)
                json.member("refused", true)
                write(to: &json)
            }
            invocation.console.print(json)
            return true
        }
        let what = count == 1 ? "one loss weakens" : "\(count) losses weaken"
        throw ToolError(
            exitCode: .rejected, code: "weaker", message: "\(what) the policy; nothing is written because of --strict",
            hint: "change the policy, or accept the loss without --strict")
    }
}

extension OptionSpecification {
    static let strict = OptionSpecification(
        name: "strict", help: "Write nothing and exit with 1 if servers would be accepted that are refused now")
    static let output = OptionSpecification(
        name: "out", short: "o", value: .file("PATH"),
        help: "Write to this file, or to this folder if there is more than one file",
        defaultText: "stdout")
}
