internal import Pintle
internal import PintleAttacks
internal import PintleCrypto
internal import PintleSystem
internal import PintleTestKit

/// A report in the Static Analysis Results Interchange Format, SARIF 2.1.0.
///
/// A result is an attack that was let through or held the client, a server that was wrongly blocked, or an attack without a
/// verdict. Each attack is a rule. Each list of ``Standards`` is a taxonomy, to whose entries the rules refer.
struct RehearsalSARIF {
    private let report: RehearsalReport
    private let client: ClientPlace
    private let rules: [Scenario]
    private let taxonomies: [Taxonomy]

    /// The entries of one list that the rules refer to.
    private struct Taxonomy {
        let list: Standards.List
        let entries: [Standards.Entry]
    }

    init(_ report: RehearsalReport, client: ClientPlace) {
        self.report = report
        self.client = client
        // Each host has the same attacks.
        var ids: Set<String> = []
        rules = report.outcomes.map(\.scenario).filter { ids.insert($0.id).inserted }
        let entries = Set(rules.flatMap(\.standards.entries)).sorted { $0.id < $1.id }
        taxonomies = Standards.List.allCases.map { list in
            Taxonomy(list: list, entries: entries.filter { $0.list == list })
        }.filter { !$0.entries.isEmpty }
    }

    var document: JSONWriter {
        .document { json in
            json.member(
                "$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
            json.member("version", "2.1.0")
            json.objects("runs", [report], writeRun)
        }
    }

    private func writeRun(_ json: inout JSONWriter, _ report: RehearsalReport) {
        json.object("tool") { json in
            json.object("driver") { json in
                json.member("name", "pintle rehearse")
                json.member("semanticVersion", CommandLineTool.version)
                json.objects("rules", rules, writeRule)
                json.objects("supportedTaxonomies", taxonomies.indices, writeReference)
            }
        }
        json.objects("invocations", [report]) { json, report in
            json.member("commandLine", client.line)
            json.member("executionSuccessful", true)
            json.member("exitCode", Int(report.exitCode.rawValue))
        }
        json.objects("taxonomies", taxonomies, write)
        json.objects("results", report.outcomes.filter { !$0.isAsItMustBe }, write)
    }

    private func writeRule(_ json: inout JSONWriter, _ scenario: Scenario) {
        let standards = scenario.standards
        json.member("id", scenario.id)
        json.message("shortDescription", Self.sentence(scenario.summary))
        json.message(
            "fullDescription",
            Self.sentence("\(scenario.summary); must be \(scenario.expectation.rawValue): \(scenario.impact)"))
        let entries = standards.entries.map { "\($0.id), \($0.title)" }
        json.message("help", (["Reference: " + scenario.reference] + entries).joined(separator: "\n"))
        json.object("defaultConfiguration") { $0.member("level", "error") }
        if !standards.entries.isEmpty { json.objects("relationships", standards.entries, writeRelationship) }
        json.object("properties") { json in
            json.member("tags", ["security"] + standards.cwe.map { "external/cwe/" + $0.id.lowercased() })
            json.member("precision", "very-high")
            json.member("group", scenario.group?.rawValue)
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

    private func write(_ json: inout JSONWriter, _ outcome: Outcome) {
        let scenario = outcome.scenario
        json.member("ruleId", scenario.id)
        json.member("ruleIndex", rules.firstIndex { $0.id == scenario.id })
        json.member("level", outcome.verdict == .inconclusive ? "warning" : "error")
        let verdict = "must be \(scenario.expectation.rawValue), was \(outcome.verdict.word.lowercased())"
        let why = [verdict, outcome.why].compactMap(\.self).joined(separator: "; ")
        let place = outcome.host.map { " at \($0)" } ?? ""
        json.message("message", Self.sentence("\(scenario.summary)\(place): \(why)"))
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
        json.object("partialFingerprints") { $0.member("primaryLocationLineHash", fingerprint(outcome)) }
        json.object("properties") { json in
            json.member("outcome", outcome.verdict.rawValue)
            json.member("requestBytes", outcome.observation.exposedByteCount)
            json.member("host", outcome.host)
            json.member("connection", outcome.connection)
            json.member("alert", outcome.observation.alert.map { "\($0)" })
        }
    }

    /// Returns a hash of the attack, the named host and the client, which stays the same from run to run. GitHub reads it under the name
    /// `primaryLocationLineHash` and expects the number of the occurrence behind it.
    private func fingerprint(_ outcome: Outcome) -> String {
        let finding = [outcome.scenario.id, client.path, outcome.host].compactMap(\.self).joined(separator: "\n")
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

/// The client of a rehearsal as a place in a report.
///
/// Code scanning shows a finding only at a file of the repository, and keeps findings apart by that file. The place is the
/// first word of the client's command line that names a file below the working directory, such as `client.py`. For an
/// installed program, such as curl, it is the program's name.
struct ClientPlace {
    /// The command line; `nil` with `--serve`.
    let line: String?
    /// The path of the client's file relative to the working directory, or the program's name.
    let path: String

    /// - Parameter words: the client's command line; empty with `--serve`.
    init(_ words: [String]) {
        line = words.isEmpty ? nil : Client(words).line
        let program = words.first?.split(separator: "/").last.map(String.init) ?? "client"
        path = words.lazy.compactMap(Self.file).first ?? program
    }

    /// Returns the relative path if the word names a regular file below the working directory.
    private static func file(_ word: String) -> String? {
        let parts = word.split(separator: "/").filter { $0 != "." }
        guard !word.hasPrefix("/"), !word.contains("{"), !parts.isEmpty, !parts.contains("..") else { return nil }
        var status = stat()
        guard stat(word, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return parts.joined(separator: "/")
    }

    /// ``path`` as a relative URI reference (RFC 3986 section 4.2).
    var uri: String {
        let unreserved = Set("-._~/0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        return path.utf8.reduce(into: "") { uri, byte in
            uri +=
                unreserved.contains(byte)
                ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte], upperCase: true)
        }
    }
}
