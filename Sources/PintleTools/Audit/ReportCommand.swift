internal import Pintle
internal import PintleConsole

extension Command {
    static let report = Command(
        name: "report",
        summary: "Report on the results of an audit, as text, a page or metrics",
        examples: [
            Example(
                line: "pintle report 1.ndjson 2.ndjson --html report.html",
                purpose: "one report of several parts; no server is asked"),
            Example(
                line: "pintle report results.ndjson --strict",
                purpose: "fails for a warning too, and shows the servers that have one"),
        ],
        overview: [
            """
            Reads the files that `pintle audit -o` writes, and asks no server. The newest result of each server \
            counts. Results of different policies or anchors are an error.
            """,
            """
            Prints a row for all servers that are not trusted for the same reason, with `--strict` also for those with \
            a warning: up to 10 of their names, and up to 100 rows. With `-v` it names every server.
            """,
        ],
        arguments: [Argument(name: "RESULTS", help: "A file of results", mayRepeat: true)],
        ownOptions: [.auditPage, .metrics, .reportsStrictly, .require, .verbose],
        exitCodes: [
            (.fine, "every server is trusted"),
            (
                .rejected,
                "a server is rejected; with `--strict`, also a warning; with `--require`, "
                    + "also a server without the property"
            ),
            (.unusable, "the command line or a file cannot be used, or there is no result"),
            (.unreachable, "the only problem is that servers were not reached"),
        ],
        sections: [
            ReferenceSection(
                "Files",
                .paragraph("The page of `--html` works without scripts and loads nothing."),
                .paragraph(
                    """
                    `--metrics` writes Prometheus's text format for the textfile collector of the node exporter: \
                    totals, and series for at most 100 refused servers, 100 that were not reached, and 100 whose \
                    certificates or pins end first. The file is replaced as a whole, and after an audit only when \
                    every server has a result; its name must end in `.prom` for the collector.
                    """)),
            .json(keys: [
                ("servers, trusted, warnings, rejected, unreached", "Numbers of servers"),
                ("reasons, problems", "The number of servers for each code"),
                (
                    "hybrid, keyExchangeGroups",
                    "With `--require`, the number of servers with a hybrid group, and for each group"
                ),
                ("firstEnd", "The first end of a certificate among the trusted servers: `server`, `certificateEnds`"),
            ]),
        ],
        articles: [.continuousIntegration],
        run: { invocation throws(ToolError) in try ReportCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let reportsStrictly = OptionSpecification("strict", help: "Exit with 1 for warnings too")
}

/// `pintle report RESULTS...`
struct ReportCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let (arguments, console) = (invocation.arguments, invocation.console)
        try GuardedFiles.check(.auditPage, .metrics, of: arguments, reading: arguments.positionals)
        let results = try AuditSelection(of: arguments.positionals, warning: console.warn)
        guard results.count > 0 else { throw .noResult }
        let isStrict = arguments.has(.reportsStrictly)
        var tally = AuditTally(now: invocation.now, requiresHybrid: arguments[.require] == .hybrid)
        var rows = AuditRows(invocation, showsWarnings: isStrict)
        try results.read { record throws(ToolError) in
            tally.add(record)
            rows.add(record)
        }
        let report = AuditReport(rows: rows, tally: tally, now: invocation.now, results: results)
        if let path = arguments[.auditPage] { try ReportHTML(report.page, date: invocation.now).write(to: path) }
        if let path = arguments[.metrics] {
            try AuditMetrics.write(results, to: path, now: invocation.now, requiresHybrid: tally.requiresHybrid)
        }
        if invocation.writesJSON { console.print(AuditRun.document(tally)) } else { invocation.print(report.text) }
        return tally.exitCode(isStrict: isStrict)
    }
}

extension ToolError {
    fileprivate static let noResult = ToolError.unusable(
        "no-result", "there is no result to report on", hint: "give a file that 'pintle audit -o' has written")
}
