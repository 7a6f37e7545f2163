internal import PintleConsole
internal import PintlePolicyFile
internal import PintleText

/// The result of a run, as text and as JSON.
struct SyncReport {
    let results: [SyncResult]
    let policy: String
    /// The file that names the targets.
    let file: String
    let isCheck: Bool

    var isStale: Bool { results.contains { !$0.difference.isEmpty } }

    private var word: String { isCheck ? "stale" : "written" }

    /// The lines of a difference that are shown without `--verbose`.
    private static let maximumShown = 20

    func report(isVerbose: Bool) -> Report {
        let changed = results.count { !$0.difference.isEmpty }
        let files = ValidityText.counted(results.count, "target")
        let count = changed == 0 ? "\(files) current" : "\(changed) of \(files) \(word)"
        let verdict: Line = isCheck && isStale ? "\("STALE", .bad)" : "\("ok", .good)"
        var report = Report("\(verdict)   \(policy)   \(count)")
        report.gap()
        for result in results {
            let state = result.difference.isEmpty ? "current" : word
            let new = result.isNew ? "   a new file" : ""
            report.line("  \(TextLayout.padded(state, to: 7))  \(result.format.rawValue)  \(result.path)\(new)")
            if result.isNew, !isVerbose { continue }
            let lines =
                result.difference.removed.map { "- \($0)" } + result.difference.added.map { "+ \($0)" }
            for line in isVerbose ? lines[...] : lines.prefix(Self.maximumShown) { report.line("           \(line)") }
            if !isVerbose, lines.count > Self.maximumShown {
                report.line("           \(lines.count - Self.maximumShown) more: --verbose shows them")
            }
        }
        if isCheck, isStale {
            let argument = file == SyncFile.name ? "" : " \(ShellWord.quoted(file))"
            report.next(["pintle sync\(argument)"])
        }
        return report
    }

    /// `{"result", "policy", "targets": [{"format", "file", "state", "removed", "added", "losses"}]}`
    var document: JSONWriter {
        .document { json in
            json.member("result", isStale ? word : "current")
            json.member("policy", policy)
            json.objects("targets", results) { json, result in
                json.member("format", result.format.rawValue)
                json.member("file", result.path)
                json.member("state", result.difference.isEmpty ? "current" : word)
                json.member("removed", result.difference.removed)
                json.member("added", result.difference.added)
                LossReport(losses: result.losses, format: result.format).write(to: &json)
            }
        }
    }
}
