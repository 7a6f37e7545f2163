internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleText

/// The changes of an update, rule by rule, for people who are about to publish it.
struct PolicyChanges {
    /// The rules that are new or differ, with each change in words.
    let rules: [(rule: String, changes: [String])]
    private let unchanged: Int

    init(from old: PinningPolicy, to new: PinningPolicy) {
        let before = Dictionary(old.hosts.map { ($0.description, $0) }, uniquingKeysWith: { first, _ in first })
        rules = new.hosts.compactMap { rule in
            let changes = before[rule.description].map { Self.changes(from: $0, to: rule) } ?? ["new rule"]
            return changes.isEmpty ? nil : (rule.description, changes)
        }
        unchanged = new.hosts.count - rules.count
    }

    /// At most twenty lines; unchanged rules share one.
    var lines: [String] {
        var lines = rules.map { "\($0.rule): \($0.changes.joined(separator: ", "))" }
        if lines.count > 20 { lines = lines.prefix(19) + ["and \(lines.count - 19) more"] }
        if unchanged > 0 { lines.append("\(ValidityText.counted(unchanged, "rule")) unchanged") }
        return lines
    }

    private static func changes(from old: PinnedHost, to new: PinnedHost) -> [String] {
        var changes: [String] = []
        func compare(_ name: String, _ before: [Pin], _ after: [Pin]) {
            let gone = before.filter { !after.contains($0) }.count
            let come = after.filter { !before.contains($0) }.count
            switch (gone, come) {
            case (0, 0): break
            case (_, 0): changes.append("\(ValidityText.counted(gone, name)) withdrawn")
            case (0, _): changes.append("\(ValidityText.counted(come, name)) added")
            default: changes.append("\(ValidityText.counted(gone, name)) replaced by \(come)")
            }
            if gone + come == 0, before != after { changes.append("another order of \(name)s") }
        }
        compare("pin", old.pins, new.pins)
        compare("backup pin", old.backupPins, new.backupPins)
        if old.expiry != new.expiry { changes.append("another expiry") }
        if old.enforcement != new.enforcement { changes.append("now \(RuleText.enforcement(of: new))") }
        if old.includesSubdomains != new.includesSubdomains {
            changes.append(new.includesSubdomains ? "now with its sub-domains" : "no longer with its sub-domains")
        }
        changes += PathTerm.allCases.compactMap { RuleText.change(of: $0, from: old, to: new) }
        if old.requires != new.requires || old.anchors != new.anchors { changes.append("other terms") }
        if old.reportTo != new.reportTo {
            changes.append(new.reportTo.isEmpty ? "reports go nowhere" : "other addresses for reports")
        }
        if let reason = new.withdrawalReason, reason != old.withdrawalReason {
            changes.append("pins withdrawn: \(JSONWriter.quoted(reason))")
        }
        return changes.isEmpty && old != new ? ["other terms"] : changes
    }
}
