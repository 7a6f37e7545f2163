import Pintle
import PintleTestKit

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyLint
@testable import PintlePolicyTools
@testable import PintleTools

/// A folder with a policy, a file of `pintle sync`, and native files.
struct SyncFixture {
    let directory: TemporaryDirectory
    /// The hashes of keys that nothing has.
    static let pins = (0..<8).map { PublicKeyPin(digest: CertificatePin(certificate: [UInt8($0)]).digest).base64 }

    init() throws {
        directory = try TemporaryDirectory()
        try policy(hosts: ["api.example.com"])
    }

    /// Writes a policy of hosts that pin a leaf and a backup.
    func policy(
        hosts: [String], pins: [String] = Self.pins, top: String = "", rule: String = "",
        to name: String = "policy.json"
    ) throws {
        let rules = hosts.map { host in
            """
            {"host": "\(host)", \(rule) "pins": [{"spki": "sha256/\(pins[0])", "at": "leaf"}],
             "backupPins": [{"spki": "sha256/\(pins[1])", "at": "leaf"}]}
            """
        }
        try directory.write(
            "{\"version\": 1, \(top) \"hosts\": [\(rules.joined(separator: ",\n"))]}", to: name)
    }

    /// Writes the file that names the targets: `("ats", "Info.plist")`.
    func targets(_ targets: (format: String, file: String)..., policy: String = "policy.json", more: String = "")
        throws
    {
        let list = targets.map { "{\"format\": \"\($0.format)\", \"file\": \"\($0.file)\"\(more)}" }
        try directory.write(
            "{\"version\": 1, \"policy\": \"\(policy)\", \"targets\": [\(list.joined(separator: ", "))]}",
            to: SyncFile.name)
    }

    func sync(_ options: String...) -> ToolRun {
        ToolRun(arguments: ["sync", directory.path(of: SyncFile.name)] + options)
    }

    func text(_ name: String) throws -> String { String(decoding: try directory.read(name), as: UTF8.self) }

    /// Returns the code of the error of a run with `--json`.
    func refusal(_ options: String...) throws -> String? {
        let run = ToolRun(arguments: ["sync", directory.path(of: SyncFile.name), "--json"] + options)
        return run.code == 2 ? try run.json()["error"]?["code"]?.string : "exit \(run.code)"
    }

    /// Returns the states of the targets: `stale`, `current`...
    func states(_ options: String...) throws -> [String] {
        let run = ToolRun(arguments: ["sync", directory.path(of: SyncFile.name), "--json"] + options)
        return try run.json()["targets"]?.elements?.compactMap { $0["state"]?.string } ?? [run.errors]
    }

    /// Returns the rules that a file has, in the order of their names. Only the pins of an Info.plist are read.
    func rules(of name: String, _ format: ForeignFormat) throws -> [String] {
        if format == .ats {
            let entries = try ATSImport.pins(in: try directory.read(name), file: name)?.entries ?? [:]
            return entries.map { host, entry in
                "\(host) \(entry.includesSubdomains) "
                    + [entry.leaves, entry.authorities].map { "\($0.map(\.description).sorted())" }.joined()
            }.sorted()
        }
        let draft = try ImportCommand.read(try directory.read(name), as: format, files: .none)
        // A configuration for plain http has hosts without pins.
        return draft.rules.filter { !$0.pins.isEmpty }.map {
            "\($0) \($0.includesSubdomains) \($0.pins.map(\.description).sorted())"
        }.sorted()
    }

    /// Returns the same of the export.
    func exportedRules(_ format: ForeignFormat) throws -> [String] {
        let name = "exported.xml"
        let run = ToolRun(
            arguments: [
                "export", directory.path(of: "policy.json"), "--to", format.rawValue, "-o", directory.path(of: name),
            ]
                + (format == .trustkit ? ["--language", "plist"] : []))
        guard run.code == 0 else { return [run.errors] }
        return try rules(of: name, format)
    }
}
