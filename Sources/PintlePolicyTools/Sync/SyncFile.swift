internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleStorage
internal import PintleText

/// The file that names a policy, and the native files that have its pins: `pintle-sync.json`.
struct SyncFile {
    struct Target {
        let format: ForeignFormat
        /// The path, for the process.
        let path: String
        /// The position of pins that have none.
        var position: PinPosition?
        /// The package of a class.
        var package: String?

        /// The language of a source file, by the ending of its name.
        var language: ForeignLanguage? {
            switch format {
            case .okhttp: path.hasSuffix(".java") ? .java : .kotlin
            case .trustkit: .plist
            default: nil
            }
        }
    }

    static let name = SyncExample.fileName

    /// The path of the policy, for the process.
    let policy: String
    /// The same path as it is in the file.
    let policyName: String
    let targets: [Target]

    /// - Parameter path: the file; the paths in it are relative to its folder.
    static func read(_ path: String, _ invocation: Invocation) throws(ToolError) -> SyncFile {
        let file = try invocation.file(path, limit: SyncReader.fileSize)
        return try SyncReader.read(file.bytes, file: file.name, in: PolicyFolder(ofFile: path))
    }
}

enum SyncKeys {
    enum File: String, CaseIterable { case version, policy, targets }
    enum Target: String, CaseIterable { case format, file, pinsAt, package }
    /// The formats that have a file of their own, or a part of one that can be found again.
    enum Format: String, CaseIterable { case ats, nsc, trustkit, okhttp, envoy }
}

/// Reads the file value by value and goes on after a mistake, so that all mistakes are reported at once.
struct SyncReader: ValueReader {
    static let fileSize = 1 << 20
    private static let targets = 64

    private let folder: PolicyFolder
    var problems: [ValueProblem] = []

    static func read(_ bytes: [UInt8], file: String, in folder: PolicyFolder) throws(ToolError) -> SyncFile {
        var reader = SyncReader(folder: folder)
        let limits = JSONDocument.Limits(maximumBytes: fileSize, maximumDepth: 8)
        return try ToolError.translating { () throws(ValueProblems) in
            try reader.document(bytes, limits, file: file, called: "the file", unusable: "invalid-sync-file") {
                $0.file($1)
            }
        }
    }

    private init(folder: PolicyFolder) {
        self.folder = folder
    }

    private mutating func file(_ root: JSONValue) -> SyncFile? {
        guard let fields = fields(of: root, as: SyncKeys.File.self, "the file", isDocument: true) else { return nil }
        _ = required(.version, of: fields, example: "1") {
            $0.integer($1, in: 1...1, id: "unsupported-version", $2)
        }
        let policy = required(.policy, of: fields, example: "\"policy.json\"") { $0.path($1, $2) }
        let targets =
            required(.targets, of: fields, example: "[{\"format\": \"ats\", \"file\": \"App/Info.plist\"}]") {
                $0.targets($1, $2)
            } ?? []
        guard problems.isEmpty, let policy else { return nil }
        return SyncFile(policy: folder.path(of: policy), policyName: policy, targets: targets)
    }

    private mutating func targets(_ value: JSONValue, _ path: String) -> [SyncFile.Target] {
        var targets: [SyncFile.Target] = []
        var seen: Set<String> = []
        for (element, path) in list(value, path, limit: Self.targets) where !isFull {
            guard let fields = fields(of: element, as: SyncKeys.Target.self, path) else { continue }
            let name: SyncKeys.Format? = required(.format, of: fields, example: "\"ats\"") { $0.choice($1, $2) }
            let file = required(.file, of: fields, example: "\"App/Info.plist\"") { $0.path($1, $2) }
            let position: PinPosition? = optional(.pinsAt, of: fields) { $0.position($1, $2) }
            let package = optional(.package, of: fields) { $0.package($1, $2) }
            guard let format = name.flatMap({ ForeignFormat(rawValue: $0.rawValue) }), let file else { continue }
            if let value = fields[.pinsAt], format.traits.positions == .anywhere {
                report(
                    "unknown-key", value, "\(path).pinsAt has no effect in \(format.title)",
                    help: "leave it out: \(format.title) looks for a pin on the whole path")
            }
            if let value = fields[.package], format != .okhttp {
                report("unknown-key", value, "\(path).package is only for okhttp", help: "leave it out")
            }
            if let value = fields[.file], let endings = Self.endings[format], !endings.contains(where: file.hasSuffix) {
                report(
                    "unknown-value", value, "\(path).file has no name for \(format.title)",
                    help: "end it with \(endings.joined(separator: " or "))"
                        + (format == .envoy ? ": JSON has no comment to say who wrote the file" : ""))
            }
            guard seen.insert("\(format) \(file)").inserted else {
                report("duplicate-target", element, "\(path) is there twice", help: "remove one")
                continue
            }
            targets.append(
                SyncFile.Target(format: format, path: folder.path(of: file), position: position, package: package))
        }
        return targets
    }

    private static let endings: [ForeignFormat: [String]] = [.okhttp: [".kt", ".java"], .envoy: [".yaml", ".yml"]]

    private mutating func path(_ value: JSONValue, _ path: String) -> String? {
        guard let text = string(value, path) else { return nil }
        guard !text.isEmpty, !text.unicodeScalars.contains(where: \.isUnsafeToPrint) else {
            report("invalid-name", value, "\(path) is not a path", help: "write it with visible characters")
            return nil
        }
        // The folders beside a file are found by its name.
        return text.hasPrefix("./") && text.utf8.count > 2 ? String(text.dropFirst(2)) : text
    }

    private mutating func position(_ value: JSONValue, _ path: String) -> PinPosition? {
        let position: PinPosition? = choice(value, path)
        guard position != .any else {
            report("unknown-value", value, "\(path) is not a position", help: "write leaf or ca")
            return nil
        }
        return position
    }

    private mutating func package(_ value: JSONValue, _ path: String) -> String? {
        guard let text = string(value, path) else { return nil }
        let isName = text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            guard let first = part.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first) else { return false }
            return part.unicodeScalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || $0 == "_" || "0"..."9" ~= $0)
            }
        }
        guard isName else {
            report("unknown-value", value, "\(path) is not a package", help: "write it like com.example.app")
            return nil
        }
        return text
    }
}
