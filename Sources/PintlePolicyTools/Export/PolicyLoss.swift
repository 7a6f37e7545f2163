internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleText

/// Something that one side can say and the other cannot, with its effect.
struct PolicyLoss: Sendable, Hashable {
    enum Effect: String, Sendable, CaseIterable {
        /// Servers that were refused may be accepted.
        case weaker
        /// Servers that were accepted may be refused.
        case stricter
        /// The same servers are accepted.
        case other
    }

    /// The subject of the loss. Stable: scripts compare it, and the article "Exports" explains each.
    enum Kind: String, Sendable, CaseIterable {
        case address
        case anchors
        case backups
        case certificatePins = "certificate-pins"
        case certificateTransparency = "certificate-transparency"
        case cleartext
        case debugOverrides = "debug-overrides"
        case exclusion
        case expiry
        case expiryTime = "expiry-time"
        case httpsOnly = "https-only"
        case issuerKey = "issuer-key"
        case name
        case overridePins = "override-pins"
        case pathLength = "path-length"
        case pooling
        case port
        case portRule = "port-rule"
        case position
        case reportOnly = "report-only"
        case reports
        case requires
        case stacks
        case subdomains
        case tlsSettings = "tls-settings"
        case tooFewPins = "too-few-pins"
        case unpinnedHosts = "unpinned-hosts"
        case updates
        case userAnchors = "user-anchors"
        case validation
    }

    let kind: Kind
    let effect: Effect
    /// One sentence, lower case, no full stop; the same for all of ``hosts``.
    let message: String
    /// The rules concerned, in the order of the policy; empty if the whole policy is.
    fileprivate(set) var hosts: [String]
}

extension PathTerm {
    /// The loss in a format that cannot express the term, which no format can.
    var loss: (kind: PolicyLoss.Kind, message: String) {
        switch self {
        case .minimumPathLength: (.pathLength, "paths may have any length")
        case .issuerKey: (.issuerKey, "any authority may have issued the leaf")
        }
    }
}

/// Losses in the order in which they were found. Each appears once, with all rules concerned.
struct LossList: Sendable {
    private struct Key: Hashable {
        let kind: PolicyLoss.Kind
        let effect: PolicyLoss.Effect
        let message: String
        /// A loss of the whole policy is not one of a single rule.
        let isOfRule: Bool
    }

    private(set) var losses: [PolicyLoss] = []
    private var places: [Key: Int] = [:]

    /// - Parameter host: the rule, as in `PinnedHost.description`; `nil` for the whole policy.
    mutating func add(_ kind: PolicyLoss.Kind, _ effect: PolicyLoss.Effect, _ message: String, _ host: String? = nil) {
        let key = Key(kind: kind, effect: effect, message: message, isOfRule: host != nil)
        if let place = places[key] {
            // The rules come one after the other, so that a rule named twice is named last.
            if let host, losses[place].hosts.last != host { losses[place].hosts.append(host) }
            return
        }
        places[key] = losses.count
        losses.append(PolicyLoss(kind: kind, effect: effect, message: message, hosts: host.map { [$0] } ?? []))
    }

    /// The losses with those that weaken first.
    var sorted: [PolicyLoss] {
        PolicyLoss.Effect.allCases.flatMap { effect in losses.filter { $0.effect == effect } }
    }

    func count(_ effect: PolicyLoss.Effect) -> Int { losses.count { $0.effect == effect } }
}

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
        json.objects("losses", losses.sorted) { $0.write(PolicyLoss.facts, of: $1) }
    }

    /// Refuses under `--strict` to write a policy that would accept more.
    ///
    /// - Returns: true if it refused and a JSON document says so. The exit code is then 1.
    /// - Throws: an error with exit code 1, if no document is asked for.
    func refusesWeaker(_ invocation: Invocation) throws(ToolError) -> Bool {
        let count = losses.count(.weaker)
        guard invocation.arguments.has(.strict), count > 0 else { return false }
        if invocation.writesJSON {
            let document = JSONWriter.document { json in
                json.member("format", format.rawValue)
                json.member("refused", true)
                write(to: &json)
            }
            invocation.console.print(document)
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
        "strict", help: "Write nothing and exit with 1 if servers would be accepted that are refused now")
    static let output = Option(
        "out", short: "o", .output("PATH", orStandardOutput: true), defaultText: "stdout",
        help: "Write to this file, or to this folder if there is more than one file")
}

extension PolicyLoss {
    static let facts: [Fact<PolicyLoss>] = [
        Fact("id") { $0.kind.rawValue }, Fact("effect") { $0.effect.rawValue }, Fact("message") { $0.message },
        Fact("hosts") { $0.hosts.isEmpty ? nil : $0.hosts },
    ]
}
