internal import Pintle
internal import PintleSystem

/// `pintle audit [POLICY] --history --from FILE...`
struct HistoryCommand {
    let invocation: Invocation
    /// The files of results.
    let files: [String]
    /// The policy that judges the pins, and the name of its file.
    let policy: (name: String, policy: PinningPolicy)?
    /// The path of the page.
    let page: String?

    func run() throws(ToolError) -> ExitCode {
        let console = invocation.console
        var reader = HistoryReader()
        for file in files { try reader.read(file, warning: console.warn) }
        guard let report = HistoryReport(reader, policy: policy) else {
            throw .unusable("no-result", "there is no result to report on", hint: "an audit of no server is no success")
        }
        if let page {
            try HistoryPage(report, writtenAt: invocation.now).write(to: page)
            console.printMessage("wrote \(SafeText.escape(page))")
        }
        if invocation.writesJSON {
            report.writeDocument(to: console.write)
        } else {
            invocation.print(HistoryText(report).report)
        }
        return report.died > 0 ? .rejected : .fine
    }
}

extension ReferenceSection {
    /// The part of the audit's page about histories.
    static let history = ReferenceSection(
        "History",
        .paragraph(
            """
            `--history` reads the results of several audits, and one file may hold several audits. It counts how often \
            each server changed its leaf key, leaf certificate, intermediates and root, by the validated path that each \
            result names. A result without a valid path is a gap. Results are ordered by `at`, and the order of the files \
            has no effect.
            """),
        .paragraph(
            """
            With a policy, a pin died if an earlier result shows it and the newest does not. Without one, the pins are \
            those that matched in any result. A pin that the newest result does not show died if that result says \
            `pin-mismatch`; otherwise it is `retired`. Results of different policies and anchors may be mixed.
            """),
        .paragraph(
            """
            A history holds at most 100,000 servers, 500,000 results and 250,000 different certificates. More of them are \
            an error.
            """),
        .paragraph("With `--json` it writes one document. Each member of `hosts` is a server:"),
        .table(
            "Key", "Value",
            [
                (name: "`result`", meaning: "`died` if a pin died, else `ok`"),
                (
                    name: "`servers`, `changed`, `unchanged`, `died`",
                    meaning:
                        "Numbers of servers; `died` is the number of pins that died"
                ),
                (name: "`results`, `from`, `until`", meaning: "The number of results, the first and the last instant"),
                (name: "`policy`", meaning: "The policy file that judged the pins"),
                (
                    name: "`policies`, `anchors`",
                    meaning: "The numbers of policies and sets of anchors that decided the results"
                ),
                (name: "`hosts.host`, `port`, `connectTo`", meaning: "As in results"),
                (
                    name: "`hosts.observations`, `proves`",
                    meaning: "The number of results with a valid path; `false` if there are fewer than two"
                ),
                (name: "`hosts.counts`", meaning: "Changes of `leafKey`, `leafCertificate`, `intermediates`, `root`"),
                (name: "`hosts.rule`, `isServed`", meaning: "The policy's rule; `false` if its pins no longer match"),
                (
                    name: "`hosts.pins`",
                    meaning:
                        "`pin`, `position`, `isBackup`, `rule`, `state` (`alive`, `died`, `retired`, `unseen`), `firstSeen`, `lastSeen`, `missingSince`"
                ),
                (
                    name: "`hosts.changes`",
                    meaning:
                        "`notYet`, `seen` (results before and after), the parts, `isReturn`, `before`, `after`; the newest 1000"
                ),
                (name: "`hosts.gaps`", meaning: "`at` and `reason`; the newest 1000"),
                (
                    name: "`hosts.moreChanges`, `moreGaps`",
                    meaning: "The number of changes and gaps that were left out"
                ),
                (
                    name: "`hosts.renewals`",
                    meaning: "`count`, `keptKey` (how many), `lifetimeDays`, `intervalDays`"
                ),
            ]))
}
