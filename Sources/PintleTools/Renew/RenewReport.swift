internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleText

/// A proposal in words, and as a document.
struct RenewReport {
    let proposal: RenewProposal
    let findings: [RenewProblem]
    /// The number of servers that were asked.
    let servers: Int
    /// The number of servers that matched a pin. The proposal is about these.
    let judged: Int
    /// The name of the policy, which the words begin with.
    let file: String
    /// The file with the proposal; `nil` if none was asked for or nothing changes.
    let written: String?
    let now: Date

    private var policy: PinningPolicy { proposal.current }

    /// The command that a person runs who has reviewed the proposal; `nil` if nothing changes.
    var signLine: String? {
        guard proposal.isChanged else { return nil }
        let number = proposal.updateVersion.map(String.init) ?? "N"
        // A name that begins with a dash would be an option.
        let name = written.map { ShellWord.quoted($0.hasPrefix("-") ? "./\($0)" : $0) } ?? "NEXT"
        return "pintle sign --key UPDATE-KEY --version \(number) --expires TIME \(name) -o \(number).json"
    }

    // MARK: Text

    var report: Report {
        let word: Line =
            proposal.isChanged
            ? "\("proposal", .good)" : findings.isEmpty ? "\("ok", .good)" : "\("no proposal", .bad)"
        let scope =
            "\(ValidityText.counted(policy.hosts.count, "rule")), \(ValidityText.counted(servers, "server"))"
        var report = Report("\(word)   \(file)   \(scope)\(outcome)")
        report.layout = Report.FactLayout(indent: 0, labelColumns: 10)
        for finding in findings {
            report.gap()
            report.fact("\("finding", .bad)", .wrapped("\(finding.id): \(finding.message)"))
            report.fact("", .wrapped("\(finding.help)\(finding.command == nil ? "" : ":")"))
            if let command = finding.command { report.fact("", "\(command)") }
        }
        for rule in policy.hosts.indices {
            let changes = proposal.changes.filter { $0.rule == rule }
            guard !changes.isEmpty else { continue }
            report.gap()
            report.line("\(policy.hosts[rule])")
            for change in changes { add(change, to: &report) }
        }
        if let version = proposal.updateVersion {
            report.gap()
            report.line("updateVersion \(policy.updateVersion) -> \(version)")
        }
        for note in proposal.notes {
            report.gap()
            report.fact("note", .wrapped("\(note)"))
        }
        guard let signLine else { return report }
        report.next(["review it; then the holder of the update key runs"])
        report.line("  \(signLine)")
        return report
    }

    /// The result behind the number of servers; empty for a complete proposal.
    private var outcome: String {
        let unreached = findings.count(where: \.isUnreachable)
        let missing = "\(ValidityText.counted(unreached, "server")) not reached"
        if proposal.isChanged { return unreached > 0 ? ": \(missing)" : "" }
        if findings.isEmpty { return ": nothing to change now" }
        guard unreached < findings.count else { return ": not known, because \(missing)" }
        return ": nothing proposed, because of \(ValidityText.counted(findings.count, "finding"))"
    }

    private func add(_ change: RenewChange, to report: inout Report) {
        let sign =
            switch change.action {
            case .add: "+"
            case .move: ">"
            case .remove: "-"
            case .removeLater: " "
            }
        report.line("  \(sign) \(change.pin)")
        let layout = report.layout
        report.layout = Report.FactLayout(indent: 6, labelColumns: 0)
        report.fact("", .wrapped("\(sentence(change))"))
        report.layout = layout
    }

    /// `add to backupPins: the key of backup.csr; publish by 2027-01-17, ...`
    func sentence(_ change: RenewChange) -> String {
        switch change.action {
        case .add:
            let by =
                change.by.map { by in
                    let day = by <= now ? "at once" : "by \(ValidityText.day(by))"
                    return "; publish it \(day), so that apps have it when the server's certificate ends"
                } ?? ""
            return "add to \(change.list.rawValue): \(change.because)\(by)"
        case .move:
            let (old, new) = change.list == .pins ? (PinList.backupPins, PinList.pins) : (.pins, .backupPins)
            return "move from \(old.rawValue) to \(new.rawValue): \(change.because)"
        case .remove: return "remove from \(change.list.rawValue): \(change.because)"
        case .removeLater:
            let day = change.from.map(ValidityText.day) ?? "later"
            return "keep in \(change.list.rawValue), and remove from \(day) on: \(change.because)"
        }
    }

    // MARK: JSON

    var document: JSONWriter {
        .document { json in
            json.member("result", proposal.isChanged ? "proposal" : "unchanged")
            json.member("servers", servers)
            json.member("judged", judged)
            json.objects("changes", proposal.changes, write)
            json.objects("findings", findings) { json, finding in
                json.member("id", finding.id)
                json.member("host", finding.endpoint.host.description)
                json.member("port", finding.endpoint.port)
                json.member("reason", finding.reason)
                json.member("message", finding.message)
                json.member("help", [finding.help, finding.command].compactMap(\.self).joined(separator: ": "))
            }
            json.member("updateVersion", proposal.updateVersion)
            json.member("written", written)
            json.member("sign", signLine)
            if !proposal.notes.isEmpty { json.member("notes", proposal.notes) }
        }
    }

    private func write(_ json: inout JSONWriter, _ change: RenewChange) {
        json.member("action", change.action.rawValue)
        json.member("rule", policy.hosts[change.rule].description)
        json.member("list", change.list.rawValue)
        json.member("pin", change.pin.description)
        if change.pin.position != .any { json.member("at", change.pin.position.rawValue) }
        json.member("by", change.by)
        json.member("from", change.from)
        json.member("message", sentence(change))
    }
}
