internal import Pintle
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
                line: #"{"id": 1, "decision": "rejected", "reason": "invalid-path", "pathFailure": "expired"}"#,
                purpose: "a verdict"),
        ],
        overview: [
            """
            Reads cases from standard input and writes their verdicts, in the same order, as they are decided. A case \
            has an id (any JSON scalar, which is echoed), a host, a chain of PEM certificates with the leaf first, \
            and may have a port (443), anchors, at (now) and policy.
            """,
            """
            anchors are PEM certificates that replace what "the system's roots" means; [] means none; left out, the \
            roots of this machine count. policy is a policy file's object, in which anchors stand as PEM text: paths \
            are refused; left out, the path alone decides. null is the same as leaving a member out; unknown members \
            are errors.
            """,
            """
            A line that cannot be read gives {"id": ..., "error": {"code", "message", "line", ...}}, with the id null \
            where it is not known, and the others are still decided. A line may have 32 MiB. Empty lines are passed \
            over.
            """,
        ],
        arguments: [],
        ownOptions: [.batch],
        readsJSONOption: true,
        environment: [("SSL_CERT_FILE, SSL_CERT_DIR", "Where the roots of this machine are")],
        exitCodes: [(.fine, "every line was decided, whatever the verdicts"), (.unusable, "a line could not be read")],
        run: { invocation throws(ToolError) in try EvaluateCommand(invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let batch = OptionSpecification(
        name: "batch", help: "Read cases as JSON, one a line (the only form there is)")
}

/// `pintle evaluate --batch`
struct EvaluateCommand {
    /// The longest line in bytes: a chain of the largest size that is decided about, anchors, and a policy.
    static let maximumLineLength = 32 << 20

    private let invocation: Invocation

    init(_ invocation: Invocation) {
        self.invocation = invocation
    }

    func run() throws(ToolError) -> ExitCode {
        guard invocation.arguments.has(.batch) else {
            throw .usage("evaluate reads cases from standard input: add --batch", of: .evaluate, code: "missing-option")
        }
        var reader = LineReader(invocation.input, limit: Self.maximumLineLength)
        var evaluator = try BatchEvaluator(now: invocation.now)
        var number = 0
        var isEveryLineGood = true
        // Whoever reads the verdicts may have gone; then there is nothing left to do.
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
