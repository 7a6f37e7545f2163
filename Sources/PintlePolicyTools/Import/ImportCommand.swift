internal import Pintle
package import PintleConsole
internal import PintlePolicyFile
internal import PintleStorage

extension Command {
    package static let `import` = Command(
        name: "import",
        summary: "Read another platform's pins as a policy; never one with fewer pins",
        examples: [
            Example(
                line: "pintle import --from nsc res/xml/network_security_config.xml -o policy.json",
                purpose: "Android; certificates that it names are found in the folder raw beside xml"),
            Example(line: "pintle import --from ats Info.plist", purpose: "NSPinnedDomains"),
            Example(line: "pintle import --from trustkit Info.plist", purpose: "TSKConfiguration"),
        ],
        overview: [
            """
            Writes a policy file. An element or a digest that the tool does not understand is an error with its \
            place, and source code is not read. Settings that a policy cannot have are printed to standard error \
            as losses, as `pintle export` does.
            """,
            """
            The formats do not say which pins are backups. The rules therefore have `"backupPins": \
            "none-accepted"`; move the pins that are not in use there.
            """,
        ],
        arguments: [Argument(name: "FILE", help: "The file to read, or `-` for standard input")],
        ownOptions: [.from, .output, .strict, .files, .verbose],
        rules: [.only(.files, for: ForeignFormat.nsc, of: .from)],
        exitCodes: [
            (.fine, "the policy was written, also with losses"),
            (.rejected, "with `--strict`: something would be weaker"),
            (.unusable, "the command line or the file cannot be used"),
        ],
        sections: [
            .json(keys: [
                ("format", "The format"), ("policy", "The policy, as in its file"),
                ("losses", "As `pintle export` has them"),
            ])
        ],
        articles: [.exports],
        run: { invocation throws(ToolError) in try ImportCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let from = Option(
        "from", .choice("FORMAT", ForeignFormat.imported), help: "The format of FILE (required)")
    fileprivate static let files = Option(
        "files", .file("FOLDER"), defaultText: "the one around xml",
        help: "For nsc: the folder res, with the certificates that FILE names")
}

/// `pintle import --from FORMAT FILE`
struct ImportCommand {
    let invocation: Invocation

    private var path: String { invocation.arguments.positionals.first ?? "-" }

    func run() throws(ToolError) -> ExitCode {
        guard let format = invocation.arguments[.from] else {
            throw .usage("--from FORMAT is missing", of: .import, code: "missing-option")
        }
        let file = try InputFile(path, limit: ForeignLimits.fileSize, standardInput: invocation.input)
        let draft: ImportDraft
        let policy: PinningPolicy
        do throws(ToolError) {
            draft = try Self.read(file.bytes, as: format, files: folder)
            policy = try draft.policy()
        } catch {
            throw Self.failure(error, format, file: file)
        }
        if policy.hosts.allSatisfy(\.pins.isEmpty) {
            invocation.console.warn("\(file.name) pins nothing: no rule of the policy has a pin")
        }
        let report = LossReport(losses: draft.losses, format: format)
        report.write(to: invocation.console, isVerbose: invocation.isVerbose)
        if try report.refusesWeaker(invocation) { return .rejected }
        try deliver(policy, report)
        return .fine
    }

    static func read(
        _ bytes: [UInt8], as format: ForeignFormat, files: ForeignFolder
    ) throws(ToolError) -> ImportDraft {
        switch format {
        case .ats: try ATSImport.read(bytes)
        case .nsc: try NSCImport.read(bytes, resources: files)
        case .trustkit: try TrustKitImport.read(bytes)
        default:
            throw .usage("\(format.rawValue) is written, not read", of: .import)
        }
    }

    /// Names the kind of a file of another format, and adds a hint to the error about a file that cannot be parsed.
    private static func failure(_ error: ToolError, _ format: ForeignFormat, file: InputFile) -> ToolError {
        if let kind = FileKind(of: file.bytes), kind.isOther(than: format) {
            return kind.refusal(of: file, wanted: "a file for \(format.title)")
        }
        var failure = error.placed(in: file.name)
        if ["malformed-xml", "not-a-plist"].contains(error.code), failure.hint == nil {
            failure.hint = "is it a file for \(format.title), as --from \(format.rawValue) says?"
        }
        return failure
    }

    private var folder: ForeignFolder {
        let folder: PolicyFolder
        if let path = invocation.arguments[.files] {
            folder = PolicyFolder(ofFile: path.hasSuffix("/") ? path : path + "/")
        } else {
            folder = PolicyFolder(ofFile: Self.parent(of: path))
        }
        return ForeignFolder { try? folder.content(of: $0) }
    }

    /// `res/` for `res/xml/network_security_config.xml`.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "../" }
        var folder = path[..<slash]
        while folder.last == "/" { folder.removeLast() }
        guard !folder.isEmpty else { return "/" }
        let start = folder.lastIndex(of: "/").map(folder.index(after:)) ?? folder.startIndex
        guard folder[start...] != ".", folder[start...] != ".." else { return "\(folder)/../" }
        return String(folder[..<start])
    }

    private func deliver(_ policy: PinningPolicy, _ report: LossReport) throws(ToolError) {
        let bytes = policy.json()
        let target = invocation.arguments[.output]
        if let target {
            try GuardedFiles.check(.output, of: invocation.arguments, reading: [path])
            try invocation.write(bytes, to: target)
        }
        if invocation.writesJSON {
            let document = JSONWriter.document { json in
                json.member("format", report.format.rawValue)
                json.member("path", target)
                json.key("policy")
                policy.write(to: &json)
                report.write(to: &json)
            }
            invocation.console.print(document)
        } else if target == nil {
            invocation.console.write(bytes)
        }
    }
}

extension FileKind {
    /// Returns whether the file is of a kind that is known, and not that of a format.
    fileprivate func isOther(than format: ForeignFormat) -> Bool {
        switch self {
        case .androidConfiguration: format != .nsc
        case .propertyList(let reader?): reader.rawValue != format.rawValue
        case .propertyList(nil): format != .ats && format != .trustkit
        case .binaryPropertyList: format != .ats && format != .trustkit
        case .objectiveC, .sourceCode, .otherPins, .policy, .update, .approvals, .report, .plan, .families, .results,
            .keys, .webPage:
            true
        }
    }
}
