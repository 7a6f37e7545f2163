internal import Pintle

/// Losses for people and for scripts.
struct LossReport {
    let losses: LossList
    /// What was read or written: `ats`.
    let format: ForeignFormat

    /// Tells every loss on standard error, the ones that weaken first.
    func tell(to console: Console, isVerbose: Bool) {
        guard !losses.losses.isEmpty else { return }
        let counts = PolicyLoss.Effect.allCases.compactMap { effect in
            let count = losses.count(effect)
            return count == 0 ? nil : "\(count) \(effect.rawValue)"
        }
        console.tell("\(format.rawValue): \(counts.joined(separator: ", "))")
        for loss in losses.sorted {
            console.tell()
            let word = loss.effect == .weaker ? "WEAKER" : loss.effect.rawValue
            console.tell("  \(TextLayout.padded(word, to: 8))  \(loss.kind.rawValue)")
            for line in TextLayout.wrapped(loss.message, width: 76) { console.tell("    \(line)") }
            if !loss.hosts.isEmpty {
                let hosts = isVerbose ? loss.hosts.joined(separator: ", ") : TextLayout.list(loss.hosts, width: 72)
                console.tell("    in: \(hosts)")
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

    /// Under `--strict`: nothing is written that would accept more.
    ///
    /// - Returns: whether that is so and a JSON document has said it: the exit code is 1.
    /// - Throws: exit code 1, where no document is asked for.
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
            exitCode: .rejected, code: "weaker", message: "\(what) the policy; nothing is written, as --strict asks",
            hint: "change the policy, or leave --strict out and live with it")
    }
}

extension OptionSpecification {
    static let strict = OptionSpecification(
        name: "strict", help: "Write nothing and exit with 1 where servers would be accepted that are refused now")
    static let output = OptionSpecification(
        name: "out", short: "o", value: .file("PATH"),
        help: "Write there; a folder, where there is more than one file",
        defaultText: "stdout")
}
