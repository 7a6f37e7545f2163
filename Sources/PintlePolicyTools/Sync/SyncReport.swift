internal import PintleConsole
internal import PintlePolicyFile
internal import PintleText

/// The result of a run, as text and as JSON.
struct SyncReport {
    let results: [SyncResult]
    let warnings: [String]
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

    var document: JSONWriter {
        .document { $0.write(Self.facts, of: self) }
    }

    /// The keys of the JSON, as help explains them.
    static var rows: KeyRows { facts.rows() + target.rows() }

    private static let facts: [Fact<SyncReport>] = [
        Fact("result", "`current`, `stale` or `written`") { $0.isStale ? $0.word : "current" },
        Fact("policy", "The path of the policy") { $0.policy },
        Fact("targets", "The files", listing: target) { report in
            report.results.map { (result: $0, word: $0.difference.isEmpty ? "current" : report.word) }
        },
        Fact("warnings", "Sentences about files that a reader may misjudge") {
            $0.warnings.isEmpty ? nil : $0.warnings
        },
    ]

    private static let target: [Fact<(result: SyncResult, word: String)>] = [
        Fact("format", "The format and the path") { $0.result.format.rawValue }, Fact("file") { $0.result.path },
        Fact("state", "As `result`") { $0.word },
        Fact("removed", "Facts that only the file has, or only the policy") { $0.result.difference.removed },
        Fact("added") { $0.result.difference.added },
        Fact("losses", "As `pintle export` has them", listing: PolicyLoss.facts) { $0.result.losses.sorted },
    ]
}
