internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL

extension Command {
    static let evaluate = Command(
        name: "evaluate",
        summary: "Decide about recorded chains, offline, many at once",
        examples: [
            Example(line: "pintle evaluate --batch < cases.ndjson > verdicts.ndjson", purpose: "one case a line"),
            Example(
                line: #"{"id": 1, "host": "example.com", "chain": ["-----BEGIN CERTIFICATE-----\n..."]}"#,
                purpose: "a case: would this machine trust that chain now?"),
            Example(
                line: #"{"id": 2, "host": "...", "chain": [...], "anchors": [...], "at": "2026-11-20T00:00:00Z"}"#,
                purpose: "the same with other roots, at another time"),
            Example(
                line: #"{"id": 1, "decision": "rejected", "reason": "\#(TrustDecision.Reason.invalidPath.rawValue)", "#
                    + #""pathFailure": "expired"}"#,
                purpose: "a verdict"),
        ],
        overview: [
            """
            Reads cases from standard input and writes their verdicts, in the same order, as they are decided. Needs \
            no network. A case has an `id`, a `host`, a `chain` of PEM certificates with the leaf first, and may have \
            a `port` (443), `anchors`, `at` (now) and a `policy`.
            """,
            """
            `anchors` are PEM certificates that replace the system's roots; `[]` means no roots; without the member \
            the roots of this machine count. `policy` is the object of a policy file, with anchors as PEM text; paths \
            are refused. Without it, only the path decides. Unknown members are errors.
            """,
            """
            A line that cannot be read gives an `error` instead of a verdict, and the others are still decided. A line \
            may have 32 MiB. Empty lines are skipped.
            """,
        ],
        arguments: [],
        ownOptions: [.batch],
        environment: [("SSL_CERT_FILE, SSL_CERT_DIR", "The places of this machine's roots")],
        exitCodes: [
            (.fine, "every line was decided, also if servers are rejected"), (.unusable, "a line could not be read"),
        ],
        sections: [
            ReferenceSection(
                "Cases",
                .table(
                    "Key", "Value",
                    [
                        ("`id`", "Any JSON scalar; the verdict repeats it"), ("`host`", "The server that is meant"),
                        ("`port`", "Default 443"), ("`chain`", "A list of certificates, PEM, the leaf first"),
                        ("`anchors`", "A list of certificates, PEM, instead of the system's roots; `[]` for none"),
                        ("`at`", "The instant of the decision; default now"),
                        ("`policy`", "The object of a policy file, with anchors as PEM text"),
                    ]),
                .paragraph("`null` is the same as leaving a member out.")),
            .json(
                "A line has these keys:",
                keys: [("id", "The case's; `null` if it could not be read")] + TrustDecision.facts.rows() + [
                    ("error", "Instead of a verdict: `code`, `message`, `line`, `column`, `hint`")
                ]),
        ],
        articles: [.decisions, .policyFile],
        run: { invocation throws(ToolError) in try EvaluateCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let batch = OptionSpecification(
        "batch", required: "cases come from standard input",
        help: "Read cases as JSON, one a line (the only form there is)")
}

/// `pintle evaluate --batch`
struct EvaluateCommand {
    /// The longest line in bytes: room for the largest chain, anchors, and a policy.
    static let maximumLineLength = 32 << 20

    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        var reader = LineReader(invocation.input, limit: Self.maximumLineLength)
        var evaluator = try BatchEvaluator(now: invocation.now)
        var number = 0
        var isEveryLineGood = true
        // If the reader of the verdicts has gone, there is nothing left to do.
        while !invocation.console.outputFailed, let line = try next(&reader) {
            number += 1
            if case .text(let bytes) = line, bytes.allSatisfy(Self.isBlank) { continue }
            let answer = evaluator.answer(to: line, number: number)
            isEveryLineGood = isEveryLineGood && answer.isVerdict
            invocation.console.print(answer.json)
        }
        return isEveryLineGood ? .fine : .unusable
    }

    private func next(_ reader: inout LineReader) throws(ToolError) -> LineReader.Line? {
        do {
            return try reader.next()
        } catch {
            throw .unusable("unreadable-file", error.message, file: "stdin")
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
