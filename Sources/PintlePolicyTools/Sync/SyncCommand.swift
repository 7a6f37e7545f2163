internal import Pintle
package import PintleConsole
internal import PintlePolicyFile
internal import PintleStorage
internal import PintleText

extension Command {
    package static let sync = Command(
        name: "sync",
        summary: "Write the policy's pins into an app's native files, or check that they have them",
        examples: [
            Example(line: "pintle sync", purpose: "write the files that pintle-sync.json names"),
            Example(line: "pintle sync --check", purpose: "in CI: exit code 1 if a committed file is stale"),
            Example(line: "pintle sync ios/pintle-sync.json --check --json", purpose: "another file, for a script"),
        ],
        overview: [
            """
            Reads FILE, the policy that it names, and the policy's anchors. In an XML property list it writes only \
            the value of `NSPinnedDomains` or `TSKPinnedDomains`. In Android's network security configuration it \
            writes only each `domain-config` that has pins, names a host of the policy or trusts a root that it \
            wrote. All other bytes stay; comments between the pins go with a warning, and so do pins of hosts that \
            the policy lacks. Other content there that would be lost, such as `tools:ignore`, is refused. It writes \
            source files for OkHttp and YAML for Envoy as a whole, if their first line says that they are its own.
            """,
            """
            All files are computed before the first is written. Each is replaced at once, and not at all if it is a \
            link, read-only, or changed meanwhile. What a format cannot say is printed as `pintle export` does, and a \
            rule that a format would lock out is refused.
            """,
        ],
        arguments: [
            Argument(
                name: "FILE", help: "The file that names policy and targets (default: \(SyncFile.name))",
                isOptional: true)
        ],
        ownOptions: [.check, .verbose],
        exitCodes: [
            (.fine, "all files have the pins of the policy"),
            (.rejected, "with `--check`: a file is stale; nothing was written"),
            (.unusable, "a file cannot be used, or a format would refuse every server of a rule"),
        ],
        sections: [
            ReferenceSection(
                "The file",
                .verbatim(
                    """
                    {
                      "version": 1,
                      "policy": "policy.json",
                      "targets": [
                        {"format": "ats", "file": "ios/App/Info.plist", "pinsAt": "leaf"},
                        {"format": "trustkit", "file": "ios/App/Info.plist"},
                        {"format": "nsc", "file": "android/app/src/main/res/xml/network_security_config.xml"},
                        {"format": "okhttp", "file": "android/app/src/main/java/Pins.kt", "package": "com.example"},
                        {"format": "envoy", "file": "proxy/pins.yaml"}
                      ]
                    }
                    """),
                .paragraph(
                    """
                    Paths are relative to the file. `pinsAt`, `leaf` or `ca`, is the position of pins that have none, \
                    for `ats` and `envoy`. `package` is for `okhttp`, whose language is that of the file: `.kt` or \
                    `.java`. Private roots for `nsc` are written into the folder `raw` beside the file's own. Those \
                    that no target names any more are named in a warning, not deleted.
                    """)),
            .json(keys: SyncReport.rows),
        ],
        articles: [.exports, .continuousIntegration],
        run: { invocation throws(ToolError) in try SyncCommand(invocation: invocation).run() }
    )
}

extension OptionSpecification {
    fileprivate static let check = OptionSpecification(
        "check", help: "Write nothing, and exit with 1 if a file differs in meaning from the policy")
}

/// `pintle sync [FILE] [--check]`
struct SyncCommand {
    let invocation: Invocation

    private var isCheck: Bool { invocation.arguments.has(.check) }

    func run() throws(ToolError) -> ExitCode {
        let path = invocation.arguments.positionals.first ?? SyncFile.name
        if invocation.arguments.positionals.isEmpty, !InputFile.exists(path) {
            throw .unusable(
                "unreadable-file", "there is no \(path) here, which names the policy and the files to write",
                hint: "make it with your names: \(SyncExample.text())")
        }
        let sync = try SyncFile.read(path, invocation)
        let policy = try PolicyInput(sync.policy, invocation).policy()
        var run = SyncRun(sync, policy, invocation)
        try run.compute()
        // Losses do not change from one check to the next.
        if !isCheck || invocation.isVerbose {
            for result in run.results {
                LossReport(losses: result.losses, format: result.format)
                    .write(to: invocation.console, isVerbose: invocation.isVerbose)
            }
        }
        for warning in run.warnings { invocation.console.warn(warning) }
        if !isCheck { try run.write() }
        let text = SyncReport(
            results: run.results, warnings: run.warnings, policy: sync.policy, file: path, isCheck: isCheck)
        invocation.print(text.report(isVerbose: invocation.isVerbose), orJSON: text.document)
        return isCheck && text.isStale ? .rejected : .fine
    }
}

/// The comparison of a target with the policy.
struct SyncResult {
    let format: ForeignFormat
    let path: String
    /// A Boolean value that indicates whether there is no file yet.
    let isNew: Bool
    let difference: NativeMeaning.Difference
    let losses: LossList
}

/// One run over all targets: everything is computed before anything is written.
struct SyncRun {
    /// A file with the changes of all targets in it.
    private struct Change {
        let file: EditedFile
        var bytes: [UInt8]?
        var isChanged = false
    }

    private let sync: SyncFile
    private let policy: PinningPolicy
    private let invocation: Invocation
    private var changes: [Change] = []
    /// The formats and files of the targets so far.
    private var seen: Set<String> = []
    /// The folders of the private roots of Android's files.
    private var rootFolders: [String] = []
    /// The certificates that elements of Android's files name, also those of other folders: a build joins them.
    private var namedRoots: Set<String> = []
    private(set) var results: [SyncResult] = []
    private(set) var warnings: [String] = []

    init(_ sync: SyncFile, _ policy: PinningPolicy, _ invocation: Invocation) {
        (self.sync, self.policy, self.invocation) = (sync, policy, invocation)
    }

    /// - Throws: the errors of all targets.
    mutating func compute() throws(ToolError) {
        var errors: [ToolError] = []
        for target in sync.targets {
            do throws(ToolError) {
                try compute(target)
            } catch {
                errors.append(error.file == nil ? error.placed(in: target.path) : error)
            }
        }
        if let error = ToolError.joining(errors) { throw error }
        for folder in rootFolders { warnOfUnnamedRoots(in: folder) }
    }

    private mutating func compute(_ target: SyncFile.Target) throws(ToolError) {
        let plan: ExportPlan
        do throws(ToolError) {
            plan = try ExportPlan.checked(policy, to: target.format, invocation.libraries, stated: target.position)
            // A file from which the last pins go is right, unless it ends the app.
            let refusal = target.format.traits.refusesNoRules ? plan.refusal : nil
            if let error = refusal ?? ExportLockOut.byPorts(in: plan, of: policy) { throw error }
        } catch {
            var error = error
            error.hint = error.hint?.replacing("--pins-at ca", with: "\"pinsAt\": \"ca\"")
                .replacing("--pins-at leaf", with: "\"pinsAt\": \"leaf\"")
            throw error
        }
        let files = plan.files(ExportSettings(language: target.language))
        guard let main = files.first else { return }
        var difference = NativeMeaning.Difference()
        func add(_ part: NativeMeaning.Difference) {
            difference.removed += part.removed
            difference.added += part.added
        }
        // Before the file that names them.
        for certificate in files.dropFirst() {
            let place = try open(ImportCommand.parent(of: target.path) + certificate.name)
            add(try edit(place, OwnFile(Array(certificate.content.utf8))) { OwnFile($0 ?? []) })
        }
        let place = try open(target.path)
        guard seen.insert("\(target.format) \(place)").inserted else {
            throw .unusable(
                "duplicate-target", "another target has the same format and file", hint: "remove one of the two")
        }
        warn(of: plan, target)
        let isNew = changes[place].bytes == nil
        let content = Array(main.content.utf8)
        switch target.format {
        case .ats, .trustkit:
            let path =
                target.format == .ats
                ? ["NSAppTransportSecurity", "NSPinnedDomains"] : ["TSKConfiguration", "TSKPinnedDomains"]
            let exported = try PropertyListFile(content, path: path)
            add(
                try edit(place, exported) { bytes throws(ToolError) in
                    try PropertyListFile(try Self.existing(bytes, target), path: path)
                })
            if target.format == .trustkit {
                warnOfLocalRoots(try PropertyListReader.root(changes[place].bytes ?? []), target)
            }
        case .nsc:
            let rules = SecurityConfigFile.Rules(plan.rules)
            let exported = try SecurityConfigFile(content, rules: nil)
            add(
                try edit(place, exported) { bytes throws(ToolError) in
                    try SecurityConfigFile(try Self.existing(bytes, target), rules: rules)
                })
            namedRoots.formUnion(try SecurityConfigFile(changes[place].bytes ?? [], rules: rules).sources)
            let folder = ImportCommand.parent(of: target.path) + "raw/"
            if !rootFolders.contains(folder) { rootFolders.append(folder) }
        case .okhttp, .envoy, .curl:
            let text = OwnFile.text(main.content, for: target, policy: sync.policyName)
            add(
                try edit(place, OwnFile(Array(text.utf8))) { bytes throws(ToolError) in
                    if let bytes { try OwnFile.check(bytes) }
                    return OwnFile(bytes ?? [])
                })
        }
        results.append(
            SyncResult(
                format: target.format, path: target.path, isNew: isNew, difference: difference, losses: plan.losses))
    }

    /// Warns of a file that is as the policy says, and yet does not do what its reader may expect.
    private mutating func warn(of plan: ExportPlan, _ target: SyncFile.Target) {
        let pinned = plan.rules.filter { $0.isPinned && $0.enforcement == .enforce }
        if pinned.isEmpty { warnings.append("\(target.path): nothing is pinned there") }
        guard target.format.traits.expiry == .none else { return }
        let ended = pinned.compactMap { rule in policy.hosts[rule.index].expiry.date.map { (rule.name, $0) } }
            .filter { $0.1 <= invocation.now }
        if let (name, date) = ended.first {
            warnings.append(
                "\(target.path): the pins of \(name) ended \(ValidityText.day(date)) in the policy, and have no end "
                    + "there" + (ended.count > 1 ? "; \(ended.count - 1) more" : ""))
        }
    }

    /// Warns of the setting beside the pins whose default exempts, on a Mac, the roots that its user has installed.
    private mutating func warnOfLocalRoots(_ root: Setting, _ target: SyncFile.Target) {
        let key = "TSKIgnorePinningForUserDefinedTrustAnchors"
        if case .boolean(false)? = root["TSKConfiguration"]?[key]?.value { return }
        warnings.append("\(target.path): on a Mac, roots that a user installed skip the pins until \(key) is false")
    }

    /// Warns of roots in a folder that no element names any more. They are not deleted, because a file that is no
    /// target may name them.
    private mutating func warnOfUnnamedRoots(in folder: String) {
        guard OutputFolder.exists(folder) else { return }
        do throws(FileError) {
            for name in try Folder.names(in: folder) where name.hasPrefix(NSCExport.rootPrefix) {
                guard !namedRoots.contains("@raw/" + name.prefix { $0 != "." }) else { continue }
                warnings.append(
                    Self.isWrittenRoot(folder + name, name)
                        ? "\(folder)\(name): no target names this root any more, which pintle sync has written: delete "
                            + "the file if nothing else names it"
                        : "\(folder)\(name): no target names this file, and pintle sync has not written its content: "
                            + "look at it before you delete it")
            }
        } catch {
            warnings.append("\(folder): \(error.message), so roots that no target names any more are not looked for")
        }
    }

    /// Returns whether a file has the content that belongs to its name.
    private static func isWrittenRoot(_ path: String, _ name: String) -> Bool {
        guard let bytes = try? RegularFile.content(path, limit: ForeignLimits.fileSize),
            let root = try? CertificateBundle(bytes).certificates.first
        else { return false }
        let written = OwnFile(Array(root.pem.utf8)).meaning
        return name == NSCExport.name(ofRoot: root) + ".pem"
            && OwnFile(bytes).meaning.difference(to: written).isEmpty
    }

    private static func existing(_ bytes: [UInt8]?, _ target: SyncFile.Target) throws(ToolError) -> [UInt8] {
        if let bytes { return bytes }
        let hint =
            target.format == .nsc
            ? "make one with <network-security-config/> in it, and name it in AndroidManifest.xml"
            : "if Xcode generates the Info.plist, make one with an empty <dict/> in it, and set INFOPLIST_FILE to it: "
                + "Xcode adds the other keys"
        throw .unusable("unreadable-file", "no such file", file: target.path, hint: hint)
    }

    /// Returns the index of the file, which other targets may have changed already.
    private mutating func open(_ path: String) throws(ToolError) -> Int {
        let file = try EditedFile(path, limit: ForeignLimits.fileSize)
        if let index = changes.firstIndex(where: { $0.file.isSame(as: file) }) { return index }
        changes.append(Change(file: file, bytes: file.bytes))
        return changes.count - 1
    }

    /// Changes the file in memory if it does not mean what the policy says.
    private mutating func edit<File: NativeFile>(
        _ place: Int, _ exported: File, _ read: ([UInt8]?) throws(ToolError) -> File
    ) throws(ToolError) -> NativeMeaning.Difference {
        let path = changes[place].file.path
        let old = try read(changes[place].bytes)
        let difference = old.meaning.difference(to: exported.meaning)
        guard !difference.isEmpty else { return difference }
        let (bytes, lostComments) = try old.replacing(by: exported)
        // A wrong edit would reach an app, so the result is read again.
        guard try read(bytes).meaning.difference(to: exported.meaning).isEmpty else {
            throw .unusable(
                "not-placed", "the pins cannot be placed in the file", file: path,
                hint: "report this with the file, and merge the output of pintle export meanwhile")
        }
        let hosts = old.meaning.hosts.subtracting(exported.meaning.hosts).sorted()
        if !hosts.isEmpty {
            warnings.append(
                "\(path): the policy exports no pins of \(TextLayout.list(hosts, width: 200)), so those in the file go")
        }
        if lostComments > 0 {
            warnings.append("\(path): \(ValidityText.counted(lostComments, "comment")) between the pins will be lost")
        }
        changes[place].bytes = bytes
        changes[place].isChanged = true
        return difference
    }

    /// Writes what changed.
    ///
    /// - Throws: an error that names the files that were written, and those that were not.
    func write() throws(ToolError) {
        let changed = changes.filter(\.isChanged)
        var written: [String] = []
        do throws(ToolError) {
            for change in changed { try change.file.check() }
            for change in changed {
                let path = change.file.path
                if change.file.bytes == nil, let slash = path.lastIndex(of: "/") {
                    try OutputFolder.create(String(path[..<slash]))
                }
                try change.file.replace(with: change.bytes ?? [])
                written.append(path)
            }
        } catch {
            var error = error
            let rest = changed.map(\.file.path).filter { !written.contains($0) }
            error.message +=
                "; written: \(written.isEmpty ? "none" : written.joined(separator: ", ")); not written: "
                + rest.joined(separator: ", ")
            throw error
        }
    }
}

extension OwnFile {
    /// Returns an exported file as one of `pintle sync`.
    static func text(_ exported: String, for target: SyncFile.Target, policy: String) -> String {
        let remark = remark(policy)
        guard target.format == .okhttp else { return "# \(remark)\n\(exported)" }
        let text = exported.replacing(ExportRemark.text, with: remark)
        guard let package = target.package else { return text }
        let end = target.language == .java ? ";" : ""
        return text.replacing("\nimport ", with: "\npackage \(package)\(end)\n\nimport ")
    }
}
