internal import Pintle
internal import PintleSystem

extension Command {
    static let history = Command(
        name: "history",
        summary: "Show how keys and pins changed over the results of several audits",
        examples: [
            Example(
                line: "pintle history monday.ndjson friday.ndjson",
                purpose: "how often each server changed its keys, certificates and authority"),
            Example(
                line: "pintle history monday.ndjson friday.ndjson --policy policy.json --html history.html",
                purpose: "which pins of the policy died, and a page with a time line"),
        ],
        overview: [
            """
            Reads the files that `pintle audit -o` writes, and asks no server; one file may hold several audits. It \
            counts how often each server changed its leaf key, leaf certificate, intermediates and root, by the \
            validated path that each result names. A result without a valid path is a gap. Results are ordered by \
            `at`, and the order of the files has no effect.
            """,
            """
            With a policy, a pin died if an earlier result shows it and the newest does not. Without one, the pins are \
            those that matched in any result. A pin that the newest result does not show died if that result says \
            `pin-mismatch`; otherwise it is `retired`. Results of different policies and anchors may be mixed.
            """,
        ],
        arguments: [Argument(name: "RESULTS", help: "A file of results", mayRepeat: true)],
        ownOptions: [.historyPolicy, .historyPage],
        exitCodes: [
            (.fine, "no pin died"), (.rejected, "a pin died"),
            (.unusable, "the command line or a file cannot be used, or there is no result"),
        ],
        sections: [
            ReferenceSection(
                "Limits",
                .paragraph(
                    """
                    A history holds at most 100,000 servers, 500,000 results and 250,000 different certificates. More \
                    of them are an error.
                    """)),
            .json(
                "Each member of `hosts` is a server:",
                keys: [
                    ("result", "`died` if a pin died, else `ok`"),
                    (
                        "servers, changed, unchanged, died",
                        "Numbers of servers; `died` is the number of pins that died"
                    ),
                    ("results, from, until", "The number of results, the first and the last instant"),
                    ("policy", "The policy file that judged the pins"),
                    ("policies, anchors", "The numbers of policies and sets of anchors that decided the results"),
                    ("hosts.host, port, connectTo", "As in results"),
                    (
                        "hosts.observations, proves",
                        "The number of results with a valid path; `false` if there are fewer than two"
                    ),
                    ("hosts.counts", "Changes of `leafKey`, `leafCertificate`, `intermediates`, `root`"),
                    ("hosts.rule, isServed", "The policy's rule; `false` if its pins no longer match"),
                    (
                        "hosts.pins",
                        "`pin`, `position`, `isBackup`, `rule`, `state` (`alive`, `died`, `retired`, `unseen`), "
                            + "`firstSeen`, `lastSeen`, `missingSince`"
                    ),
                    (
                        "hosts.changes",
                        "`notYet`, `seen` (results before and after), the parts, `isReturn`, `before`, `after`; "
                            + "the newest 1000"
                    ),
                    ("hosts.gaps", "`at` and `reason`; the newest 1000"),
                    ("hosts.moreChanges, moreGaps", "The number of changes and gaps that were left out"),
                    ("hosts.renewals", "`count`, `keptKey` (how many), `lifetimeDays`, `intervalDays`"),
                ]),
        ],
        articles: [.continuousIntegration, .publicAuthorities],
        run: { invocation throws(ToolError) in try HistoryCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let historyPolicy = Option(
        "policy", .file("FILE"), help: "The policy whose pins are judged, instead of those that matched")
    fileprivate static let historyPage = Option("html", .output("FILE"), help: "Write a page with a time line")
}

/// `pintle history RESULTS...`
struct HistoryCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let (arguments, console) = (invocation.arguments, invocation.console)
        try GuardedFiles.check(
            .historyPage, of: arguments, reading: arguments.positionals + arguments.files(of: .historyPolicy))
        let input = try arguments[.historyPolicy].map { path throws(ToolError) in try PolicyInput(path, invocation) }
        let policy = try input.map { input throws(ToolError) in (name: input.file.name, policy: try input.policy()) }
        var reader = HistoryReader()
        for file in arguments.positionals { try reader.read(file, warning: console.warn) }
        guard let report = HistoryReport(reader, policy: policy) else { throw .noResult }
        if let page = arguments[.historyPage] {
            try ReportHTML(report.page, date: invocation.now).write(to: page)
            console.printMessage("wrote \(SafeText.escape(page))")
        }
        invocation.print(report.page.report, orJSON: report.document)
        return report.died > 0 ? .rejected : .fine
    }
}

extension ToolError {
    static let noResult = ToolError.unusable(
        "no-result", "there is no result to report on", hint: "an audit of no server is no success")
}
