internal import Pintle
internal import PintleStorage

extension Command {
    static let `import` = Command(
        name: "import",
        summary: "Read another platform's pins as a policy; never one with fewer pins",
        examples: [
            Example(
                line: "pintle import --from nsc res/xml/network_security_config.xml -o policy.json",
                purpose: "Android; certificates that it names are found in the folder raw beside xml"),
            Example(line: "pintle import --from ats Info.plist", purpose: "NSPinnedDomains"),
            Example(
                line: "pintle import --from okhttp Network.kt",
                purpose: "the literal add(...) calls of a CertificatePinner"),
            Example(
                line: "pintle import --from chromium pins.json --keys pins.pins",
                purpose: "the static list and the file of its keys"),
        ],
        overview: [
            """
            Writes a policy file. An element, a digest or a variable that the tool does not understand is an error \
            with its place. Settings that a policy cannot have are printed to standard error as losses, as `pintle \
            export` does.
            """,
            """
            The formats do not say which pins are backups. The rules therefore have `"backupPins": \
            "none-accepted"`; move the pins that are not in use there.
            """,
        ],
        arguments: [Argument(name: "FILE", help: "The file to read, or `-` for standard input")],
        ownOptions: [.from, .output, .strict, .keys, .files],
        rules: [.only(.keys, for: ForeignFormat.chromium, of: .from)],
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
        "from", .choice("FORMAT", ForeignFormat.allCases), help: "The format of FILE (required)")
    fileprivate static let keys = Option(
        "keys", .file("FILE"), defaultText: "the .pins file beside the list", help: "For chromium: the file of keys")
    fileprivate static let files = Option(
        "files", .file("FOLDER"), defaultText: "FILE's own folder; for nsc the one around xml",
        help: "The folder of certificates that FILE names: for nsc the folder res")
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
        let keys = format == .chromium ? try chromiumKeys() : nil
        let draft: ImportDraft
        let policy: PinningPolicy
        do throws(ToolError) {
            draft = try Self.read(file.bytes, as: format, keys: keys, files: folder(for: format))
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
        _ bytes: [UInt8], as format: ForeignFormat, keys: ChromiumKeys?, files: ForeignFolder
    ) throws(ToolError) -> ImportDraft {
        switch format {
        case .ats: try ATSImport.read(bytes)
        case .nsc: try NSCImport.read(bytes, resources: files)
        case .okhttp: try OkHttpImport.read(bytes)
        case .trustkit: try TrustKitImport.read(bytes)
        case .curl: try CurlImport.read(bytes, files: files)
        case .envoy: try EnvoyImport.read(bytes, files: files)
        case .chromium: try ChromiumImport.read(bytes, keys: keys ?? .none)
        }
    }

    /// Names the kind of a file of another format, and adds a hint to the error about a file that cannot be parsed.
    private static func failure(_ error: ToolError, _ format: ForeignFormat, file: InputFile) -> ToolError {
        if let kind = FileKind(of: file.bytes), kind.isOther(than: format) {
            return kind.refusal(of: file, wanted: "a file for \(format.title)")
        }
        var failure = error.placed(in: file.name)
        if ["malformed-xml", "not-a-plist", "invalid-utf8"].contains(error.code), failure.hint == nil {
            failure.hint = "is it a file for \(format.title), as --from \(format.rawValue) says?"
        }
        return failure
    }

    private func folder(for format: ForeignFormat) -> ForeignFolder {
        let folder: PolicyFolder
        if let path = invocation.arguments[.files] {
            folder = PolicyFolder(ofFile: path.hasSuffix("/") ? path : path + "/")
        } else {
            folder = PolicyFolder(ofFile: format == .nsc ? Self.parent(of: path) : path)
        }
        return ForeignFolder { try? folder.content(of: $0) }
    }

    /// `res/` for `res/xml/network_security_config.xml`.
    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "../" }
        let folder = path[..<slash]
        guard let above = folder.lastIndex(of: "/") else { return folder == ".." ? "../../" : "" }
        return String(folder[...above])
    }

    private func chromiumKeys() throws(ToolError) -> ChromiumKeys {
        let candidates = invocation.arguments[.keys].map { [$0] } ?? keyFiles
        guard let path = candidates.first(where: { candidates.count == 1 || InputFile.exists($0) }) else {
            throw .unusable(
                "missing-option", "the keys that the list names are in a file of their own",
                hint: "name it: --keys FILE")
        }
        let file = try InputFile(path, limit: ForeignLimits.fileSize, standardInput: invocation.input)
        do {
            return try ChromiumKeys(file.bytes)
        } catch {
            throw error.placed(in: file.name)
        }
    }

    /// The paths where the file of keys may be, beside the list.
    private var keyFiles: [String] {
        guard path != "-" else { return [] }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
        let stem = path.hasSuffix(".json") ? String(path.dropLast(".json".count)) : path
        // The old name of this file comes last.
        return ["\(stem).pins", folder + ChromiumExport.keys, "\(stem).certs"]
    }

    private func deliver(_ policy: PinningPolicy, _ report: LossReport) throws(ToolError) {
        let bytes = policy.json()
        let target = invocation.arguments[.output]
        if let target {
            try GuardedFiles.check(
                .output, of: invocation.arguments, reading: [path] + invocation.arguments.files(of: .keys))
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
        // The other formats are text or JSON that this type does not tell apart.
        case .objectiveC: true
        case .sourceCode: format == .nsc || format == .ats
        case .policy, .update, .approvals, .report, .plan, .families, .results, .keys, .webPage: true
        }
    }
}
