internal import Pintle
package import PintleConsole
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleText

extension Command {
    package static let export = Command(
        name: "export",
        summary: "Write the policy as another platform's pins, and name every loss",
        examples: [
            Example(
                line: "pintle export policy.json --to nsc -o app/src/main/res",
                purpose: "Android: xml/network_security_config.xml, and private roots in raw/"),
            Example(
                line: "pintle export policy.json --to ats --pins-at leaf -o Pins.plist",
                purpose: "NSPinnedDomains for an Info.plist; ATS must know whose the pins are"),
            Example(line: "pintle export policy.json --to okhttp --language java", purpose: "a CertificatePinner"),
            Example(
                line: "pintle export policy.json --to envoy --strict --json",
                purpose: "in CI: exit code 1 if the format would accept a server that the policy refuses"),
        ],
        overview: [
            """
            Reads the policy and the anchor files it names, and writes as much as the format can say. Each loss is \
            printed to standard error: `weaker` if servers that the policy refuses may be accepted, `stricter` if \
            servers that it accepts may be refused, `other` if neither happens.
            """
        ],
        arguments: [Argument(name: "POLICY", help: "The policy file, or `-` for standard input")],
        ownOptions: [.to, .output, .strict, .language, .pinsAt, .debugRoots, .verbose],
        rules: [.only(.debugRoots, for: ForeignFormat.nsc, of: .to)],
        exitCodes: [
            (.fine, "the files were written, also with losses"),
            (.rejected, "with `--strict`: something would be weaker, and nothing was written"),
            (
                .unusable,
                "the command line or the policy cannot be used, the format would refuse every server of a rule or pin "
                    + "nothing, or the file at `-o` is not the tool's"
            ),
        ],
        sections: [
            ReferenceSection(
                "Rules that a format would lock out",
                .paragraph(
                    """
                    A rule whose servers would all be refused is the error `locks-out`. This is a rule that pins \
                    only authorities, for a format that compares pins with the leaf, or a rule of which only backups \
                    would be written. For `ats`, each of its two lists needs a pin in use, and a rule below a parent \
                    domain that pins in the other list must pin one of that list's keys too.
                    """),
                .paragraph(
                    """
                    Pins without a position are taken for those of authorities if a rule has no backup and at least \
                    five pins, or the pins of rules for four domains. Otherwise the loss `position` names the rule.
                    """)),
            .json(keys: [
                ("format", "The format"), ("files", "A list of `name` and `content`, or of `path` with `-o`"),
                ("losses", "A list of `id`, `effect` (`weaker`, `stricter`, `other`), `message` and `hosts`"),
                ("refused", "True instead of `files`, if `--strict` refused"),
            ]),
        ],
        articles: [.exports, .android],
        run: { invocation throws(ToolError) in try ExportCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let to = Option(
        "to", .choice("FORMAT", ForeignFormat.allCases), required: "there are several formats",
        help: "The format to write")
    fileprivate static let language = Option(
        "language", .choice("LANGUAGE", ForeignLanguage.allCases), defaultText: "the first of them",
        help: "kotlin or java for okhttp, swift or plist for trustkit")
    fileprivate static let pinsAt = Option(
        "pins-at", .choice("POSITION", [PinPosition.leaf, .ca]),
        help: "The position of pins that have none; ats takes them for the leaf's")
    fileprivate static let debugRoots = Option(
        "debug-anchors", .file("FILE"),
        help: "For nsc: certificates that debug builds trust too, without pins, to look through a proxy")
}

/// `pintle export --to FORMAT POLICY`
struct ExportCommand {
    let invocation: Invocation

    func run() throws(ToolError) -> ExitCode {
        let format = invocation.arguments[.to]
        let settings = try settings(for: format)
        let policy = try PolicyInput(invocation.arguments.positionals[0], invocation).policy()
        let plan = try ExportPlan.checked(
            policy, to: format, invocation.libraries, stated: invocation.arguments[.pinsAt])
        let report = LossReport(losses: plan.losses, format: format)
        report.write(to: invocation.console, isVerbose: invocation.isVerbose)
        if let error = plan.refusal { throw error }
        if try report.refusesWeaker(invocation) { return .rejected }
        try deliver(plan.files(settings), report)
        return .fine
    }

    private func settings(for format: ForeignFormat) throws(ToolError) -> ExportSettings {
        var settings = ExportSettings()
        if let language = invocation.arguments[.language] {
            let choices = ForeignLanguage.choices(for: format)
            guard choices.contains(language) else {
                let known = choices.map(\.rawValue).joined(separator: " or ")
                throw .usage(
                    "\(format.rawValue) is not written in \(language.rawValue)"
                        + (known.isEmpty ? "" : ", but in \(known)"),
                    of: .export)
            }
            settings.language = language
        }
        if let path = invocation.arguments[.debugRoots] {
            let certificates = try invocation.certificates(in: path)
            settings.debugRoots = certificates.map(\.pem)
        }
        return settings
    }

    private func deliver(_ files: [ExportedFile], _ report: LossReport) throws(ToolError) {
        var paths: [String] = []
        if let target = invocation.arguments[.output] {
            paths = try write(files, of: report.format, to: target)
        }
        if invocation.writesJSON {
            invocation.console.print(document(files, paths, report))
        } else if paths.isEmpty {
            for file in files {
                // The form in which `tail` and `head` name several files.
                if files.count > 1 { invocation.console.print("==> \(file.name) <==") }
                invocation.console.write(Array(file.content.utf8))
            }
            if files.count > 1 {
                let folder = Self.folder(of: report.format)
                invocation.console.hint(
                    "these are \(files.count) files; to write each: " + invocation.commandLine(adding: ["-o", folder]))
            }
        } else {
            for path in paths { invocation.console.printMessage("wrote \(SafeText.escape(path))") }
        }
    }

    private func write(
        _ files: [ExportedFile], of format: ForeignFormat, to target: String
    ) throws(ToolError) -> [String] {
        if files.count > 1, !OutputFolder.exists(target),
            OutputFile.exists(target) || target.hasSuffix(Self.ending(of: files[0].name))
        {
            throw .unusable(
                "usage", "--out \(target): there are \(files.count) files, for which it names a folder",
                hint: "name a folder, such as -o \(Self.folder(of: format))")
        }
        let isFolder =
            target.hasSuffix("/") || files.count > 1 || OutputFolder.exists(target) || Self.isNewFolder(target, files)
        let paths = files.map { isFolder ? (target.hasSuffix("/") ? target : target + "/") + $0.name : target }
        let arguments = invocation.arguments
        var guarded = GuardedFiles(arguments.positionals + arguments.files(of: .debugRoots), of: .export)
        for path in paths { try guarded.reserve(path, for: .output) }
        // The other files are certificates, whose names say what is in them.
        if let path = paths.first { try format.checkPlace(path, hint: remedy(for: format, path)) }
        for (file, path) in zip(files, paths) {
            if isFolder, let slash = path.lastIndex(of: "/") { try OutputFolder.create(String(path[..<slash])) }
            try OutputFile.replace(path, Array(file.content.utf8))
        }
        return paths
    }

    /// Returns `.xml` for `xml/network_security_config.xml`.
    private static func ending(of name: String) -> String { String(name.drop { $0 != "." }) }

    /// Returns an example of a folder for several files.
    private static func folder(of format: ForeignFormat) -> String { format == .nsc ? "res" : "pins" }

    /// The remedy for a file of the user's that an export would replace.
    private func remedy(for format: ForeignFormat, _ path: String) -> String {
        guard path.hasSuffix(".plist") && (format == .ats || format == .trustkit) || format == .nsc else {
            return "move it away, or name another file with -o"
        }
        let policy = invocation.arguments.positionals[0]
        return SyncExample.advice(
            policy: policy == "-" ? "policy.json" : policy, format, path,
            // A format without positions takes no such key.
            pinsAt: format.traits.positions == .anywhere ? nil : invocation.arguments[.pinsAt],
            isThere: InputFile.exists(SyncExample.fileName))
    }

    /// Returns whether the target is the folder around. Android looks for the file in the folder `xml`, with or without
    /// private roots beside it, so a path that does not end in `.xml` means the folder.
    private static func isNewFolder(_ target: String, _ files: [ExportedFile]) -> Bool {
        files.contains { $0.name.contains("/") } && !target.hasSuffix(".xml") && !OutputFile.exists(target)
    }

    /// `{"format", "files": [{"name", "path"?, "content"?}], "losses": [{"id", "effect", "message", "hosts"?}]}`
    private func document(_ files: [ExportedFile], _ paths: [String], _ report: LossReport) -> JSONWriter {
        .document { json in
            json.member("format", report.format.rawValue)
            json.objects("files", files.enumerated()) { json, file in
                json.member("name", file.element.name)
                if paths.isEmpty {
                    json.member("content", file.element.content)
                } else {
                    json.member("path", paths[file.offset])
                }
            }
            report.write(to: &json)
        }
    }
}
