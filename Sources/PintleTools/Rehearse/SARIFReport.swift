internal import Pintle
internal import PintleAttacks
internal import PintleConsole
internal import PintleCrypto
internal import PintlePolicyFile
internal import PintleSystem

/// A report of a client in the Static Analysis Results Interchange Format, SARIF 2.1.0.
///
/// Each list of ``Standards`` is a taxonomy, to whose entries the rules refer.
struct SARIFReport {
    enum Level: String {
        case error, warning, note
    }

    struct Rule {
        let id: String
        let summary: String
        /// The sentence that explains the rule.
        let details: String
        /// The lines of the help, before the entries of public lists.
        var help: [String] = []
        var level = Level.error
        var standards = Standards()
        var group: String?
    }

    struct Result {
        /// The id of the rule.
        let rule: String
        let level: Level
        let message: String
        /// The host of the finding; `nil` if the client knows only one.
        var host: String?
        /// Writes further properties.
        var properties: (inout JSONWriter) -> Void = { _ in }
    }

    private let client: ClientPlace
    private let exitCode: ExitCode
    /// A sentence about the run that is no finding.
    private let note: String?
    private let rules: [Rule]
    private let results: [Result]
    private let taxonomies: [Taxonomy]

    /// The entries of one list that the rules refer to.
    private struct Taxonomy {
        let list: Standards.List
        let entries: [Standards.Entry]
    }

    init(client: ClientPlace, exitCode: ExitCode, note: String? = nil, rules: [Rule], results: [Result]) {
        (self.client, self.exitCode, self.note) = (client, exitCode, note)
        (self.rules, self.results) = (rules, results)
        let entries = Set(rules.flatMap(\.standards.entries)).sorted { $0.id < $1.id }
        taxonomies = Standards.List.allCases.map { list in
            Taxonomy(list: list, entries: entries.filter { $0.list == list })
        }.filter { !$0.entries.isEmpty }
    }

    func write(to path: String) throws(ToolError) {
        try OutputFile.replace(path, document.bytes + [UInt8(ascii: "\n")])
    }

    private var document: JSONWriter {
        .document { json in
            json.member(
                "$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
            json.member("version", "2.1.0")
            json.objects("runs", [self]) { json, report in report.writeRun(&json) }
        }
    }

    private func writeRun(_ json: inout JSONWriter) {
        json.object("tool") { json in
            json.object("driver") { json in
                json.member("name", "pintle rehearse")
                json.member("semanticVersion", CommandLineTool.version)
                json.objects("rules", rules, writeRule)
                json.objects("supportedTaxonomies", taxonomies.indices, writeReference)
            }
        }
        json.objects("invocations", [client]) { json, client in
            json.member("commandLine", client.line)
            json.member("executionSuccessful", true)
            json.member("exitCode", Int(exitCode.rawValue))
            if let note {
                json.objects("toolExecutionNotifications", [note]) { json, note in
                    json.member("level", Level.note.rawValue)
                    json.message("message", Self.sentence(note))
                }
            }
        }
        json.objects("taxonomies", taxonomies, write)
        json.objects("results", results, write)
    }

    private func writeRule(_ json: inout JSONWriter, _ rule: Rule) {
        json.member("id", rule.id)
        json.message("shortDescription", Self.sentence(rule.summary))
        json.message("fullDescription", Self.sentence(rule.details))
        let entries = rule.standards.entries.map { "\($0.id), \($0.title)" }
        let help = rule.help + entries
        if !help.isEmpty { json.message("help", help.joined(separator: "\n")) }
        json.object("defaultConfiguration") { $0.member("level", rule.level.rawValue) }
        if !entries.isEmpty { json.objects("relationships", rule.standards.entries, writeRelationship) }
        json.object("properties") { json in
            json.member("tags", ["security"] + rule.standards.cwe.map { "external/cwe/" + $0.id.lowercased() })
            json.member("precision", "very-high")
            json.member("group", rule.group)
        }
    }

    private func writeRelationship(_ json: inout JSONWriter, to entry: Standards.Entry) {
        guard let index = taxonomies.firstIndex(where: { $0.list == entry.list }) else { return }
        json.object("target") { json in
            json.member("id", entry.id)
            json.member("index", taxonomies[index].entries.firstIndex(of: entry))
            json.object("toolComponent") { writeReference(&$0, to: index) }
        }
        // Weaknesses contain the fault. Controls and tests are about it.
        let isWeakness = entry.list == .cwe || entry.list == .maswe
        json.member("kinds", [isWeakness ? "superset" : "relevant"])
    }

    private func writeReference(_ json: inout JSONWriter, to index: Int) {
        json.member("name", taxonomies[index].list.rawValue)
        json.member("index", index)
    }

    private func write(_ json: inout JSONWriter, _ taxonomy: Taxonomy) {
        json.member("name", taxonomy.list.rawValue)
        json.member("version", taxonomy.list.version)
        json.member("organization", taxonomy.list.organization)
        json.message("shortDescription", taxonomy.list.title)
        json.objects("taxa", taxonomy.entries) { json, entry in
            json.member("id", entry.id)
            json.message("shortDescription", entry.title)
        }
    }

    private func write(_ json: inout JSONWriter, _ result: Result) {
        json.member("ruleId", result.rule)
        json.member("ruleIndex", rules.firstIndex { $0.id == result.rule })
        json.member("level", result.level.rawValue)
        json.message("message", Self.sentence(result.message))
        json.objects("locations", [client]) { json, client in
            json.object("physicalLocation") { json in
                json.object("artifactLocation") { $0.member("uri", client.uri) }
                json.object("region") { $0.member("startLine", 1) }
            }
            json.objects("logicalLocations", [client]) { json, client in
                json.member("name", client.path)
                json.member("fullyQualifiedName", client.line)
                json.member("kind", "module")
            }
        }
        json.object("partialFingerprints") { $0.member("primaryLocationLineHash", fingerprint(result)) }
        json.object("properties") { json in
            json.member("host", result.host)
            result.properties(&json)
        }
    }

    /// Returns a hash of the rule, the named host and the client, which stays the same from run to run. GitHub reads it
    /// under the name `primaryLocationLineHash` and expects the number of the occurrence behind it.
    private func fingerprint(_ result: Result) -> String {
        let finding = [result.rule, client.path, result.host].compactMap(\.self).joined(separator: "\n")
        return Hex.encode(SHA256Digest(hashing: Array(finding.utf8)).bytes.prefix(8)) + ":1"
    }

    private static func sentence(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() + "." }
}

extension JSONWriter {
    /// Writes a message, or a multi-format message, in plain text.
    fileprivate mutating func message(_ key: String, _ text: String) {
        object(key) { $0.member("text", text) }
    }
}
