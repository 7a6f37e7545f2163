internal import FoundationEssentials
internal import Pintle
internal import PintleOpenSSL

extension Command {
    static let lint = Command(
        name: "lint",
        summary: "Find every mistake in a policy file, each with its place and remedy",
        examples: [
            Example(line: "pintle lint policy.json", purpose: "all problems at once, in the form that editors jump to"),
            Example(line: "pintle lint policy.json --expires-within 180d", purpose: "before a release that lives long"),
            Example(line: "pintle lint policy.json --json", purpose: "for a script: ids are stable"),
        ],
        overview: [
            """
            Reads the policy and the anchor files it names. Errors make a policy unusable; warnings are allowed and \
            probably not meant, such as pins that end soon. Both count as problems.
            """
        ],
        arguments: [Argument(name: "POLICY", help: "The policy file, or - for standard input")],
        ownOptions: [.expiresWithin],
        environment: [("SSL_CERT_FILE, SSL_CERT_DIR", "Where the roots of this machine are")],
        exitCodes: [
            (.fine, "no problem"), (.rejected, "there are errors or warnings"), (.unusable, "the file cannot be read"),
        ],
        run: { invocation throws(ToolError) in try LintCommand(invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let expiresWithin = OptionSpecification(
        name: "expires-within", value: .text("DAYS"), help: "Warn of pins that end within so many days, such as 180d",
        defaultText: "90d")
}

/// `pintle lint POLICY`
struct LintCommand {
    private let invocation: Invocation

    init(_ invocation: Invocation) {
        self.invocation = invocation
    }

    func run() throws(ToolError) -> ExitCode {
        var lint = PolicyLint(at: invocation.now)
        if let text = invocation.arguments.value(of: .expiresWithin) { lint.expiresWithin = try Self.seconds(text) }
        let input = try PolicyInput(invocation.arguments.positionals[0], invocation)
        lint.resolvingFile = { path in try input.anchorFile(path) }
        lint.isPublicSuffix = PublicSuffixList.contains
        let authorities = PublicAuthorities(environment: invocation.environment)
        lint.sharedAuthority = { authorities.name(pinnedBy: $0) }
        let report = lint.report(on: input.file.bytes)
        let text = LintReportText(report: report, file: input.file)
        if invocation.writesJSON {
            invocation.console.print(text.document)
        } else {
            text.print(to: invocation.console)
        }
        return report.findings.isEmpty ? .fine : .rejected
    }

    /// `90d`
    private static func seconds(_ text: String) throws(ToolError) -> Double {
        guard text.hasSuffix("d"), let days = UInt16(text.dropLast()) else {
            throw .usage("--expires-within takes a number of days: write it like 90d", of: .lint)
        }
        return Double(days) * 86_400
    }
}
