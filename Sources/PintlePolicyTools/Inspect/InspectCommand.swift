internal import Pintle
package import PintleConsole
internal import PintlePolicyFile

extension Command {
    package static let inspect = Command(
        name: "inspect",
        summary: "Show what is in a policy, update, report, certificate or key; verifies nothing",
        examples: [
            Example(line: "pintle inspect policy.json", purpose: "its rules, their pins and dates, and its problems"),
            Example(line: "pintle inspect chain.pem", purpose: "every field of every certificate"),
            Example(line: "pintle inspect chain.pem --json", purpose: "the same for a script"),
        ],
        overview: [
            """
            Prints the claims of a file. No signature, date or name is checked: `pintle check` and `pintle evaluate` \
            decide, `pintle lint` judges a policy, `pintle verify` an update.
            """
        ],
        arguments: [
            Argument(
                name: "FILE",
                help: "A policy, an update, a report, certificates, a request or a key; `-` for standard input")
        ],
        ownOptions: [.verbose],
        exitCodes: [(.fine, "the file was shown, also if it has problems"), (.unusable, "the file cannot be read")],
        sections: [
            .json(
                """
                An Ed25519 key is shown with the id that updates use for it, and a report, in any of its encodings, \
                with the pins of its certificates.
                """,
                keys: [
                    ("source, kind", "The file, and the kind of its content"),
                    ("verified", "Always false"),
                    ("certificates", "Of certificates, requests and keys: a list of objects with the keys below"),
                ] + CertificateInspection.Item.facts.rows())
        ],
        articles: [.policyFile, .signedUpdates, .reports],
        run: { invocation throws(ToolError) in try InspectCommand(invocation: invocation).run() }
    )
}

/// `pintle inspect FILE`
struct InspectCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let path = invocation.arguments.positionals[0]
        var input = try PolicyInput(ofAnyKind: path, invocation)
        if input.isDocument {
            try showDocument(input)
        } else {
            let items = try invocation.items(in: &input.file)
            let inspection = CertificateInspection(
                source: path, entries: PinEntry.list(items), now: invocation.now, isVerbose: invocation.isVerbose)
            invocation.print(inspection.report, orJSON: inspection.document)
        }
        return .fine
    }

    private func showDocument(_ input: PolicyInput) throws(ToolError) {
        let root = (try? JSONDocument(input.file.bytes, limits: .init(allowsAnyNumber: true)))?.root
        if let root, FileKind.isUpdate(root) {
            try UpdateInspection(input.file, invocation).show()
        } else if let root, let reports = ReportInspection.reports(in: root) {
            try ReportInspection(file: input.file, reports: reports, invocation: invocation).show()
        } else {
            try PolicyInspection(input: input, invocation: invocation).show()
        }
    }
}
