internal import Pintle
internal import PintleCrypto
internal import PintleTestKit

/// A report in the Static Analysis Results Interchange Format, SARIF 2.1.0.
///
/// A result is an attack that was let through or held the client, a server that was wrongly blocked, or an attack without a
/// verdict. Each attack is a rule. Each list of ``AttackStandards`` is a taxonomy, to whose entries the rules refer.
struct RehearsalSARIF {
    private let report: RehearsalReport
    private let client: RehearsedClient
    private let rules: [Attack]
    private let taxonomies: [Taxonomy]

    /// The entries of one list that the rules refer to.
    private struct Taxonomy {
        let list: AttackStandards.List
        let entries: [AttackStandards.Entry]
    }

    init(_ report: RehearsalReport, client: RehearsedClient) {
        self.report = report
        self.client = client
        // Each host has the same attacks.
        var ids: Set<String> = []
        rules = report.results.map(\.attack).filter { ids.insert($0.id).inserted }
        let entries = Set(rules.flatMap(\.standards.entries)).sorted { $0.id < $1.id }
        taxonomies = AttackStandards.List.allCases.map { list in
            Taxonomy(list: list, entries: entries.filter { $0.list == list })
        }.filter { !$0.entries.isEmpty }
    }

    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member(
                "$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
            json.member("version", "2.1.0")
            json.array("runs") { json in json.object(writeRun) }
        }
        return json
    }

    private func writeRun(_ json: inout JSONWriter) {
        json.object("tool") { json in
            json.object("driver") { json in
                json.member("name", "pintle rehearse")
                json.member("semanticVersion", CommandLineTool.version)
                json.array("rules") { json in
                    for rule in rules { json.object { writeRule(rule, &$0) } }
                }
                json.array("supportedTaxonomies") { json in
                    for index in taxonomies.indices { json.object { writeReference(to: index, &$0) } }
                }
            }
        }
        json.array("invocations") { json in
            json.object { json in
                json.member("commandLine", client.line)
                json.member("executionSuccessful", true)
                json.member("exitCode", Int(report.exitCode.rawValue))
            }
        }
        json.array("taxonomies") { json in
            for taxonomy in taxonomies { json.object { write(taxonomy, &$0) } }
        }
        json.array("results") { json in
            for result in report.results where !result.isAsItMustBe { json.object { write(result, &$0) } }
        }
    }

    private func writeRule(_ attack: Attack, _ json: inout JSONWriter) {
        let standards = attack.standards
        json.member("id", attack.id)
        json.message("shortDescription", Self.sentence(attack.summary))
        json.message(
            "fullDescription",
            Self.sentence("\(attack.summary); must be \(attack.expectation.rawValue): \(attack.stake)"))
        let entries = standards.entries.map { "\($0.id), \($0.title)" }
        json.message("help", (["Reference: " + attack.reference] + entries).joined(separator: "\n"))
        json.object("defaultConfiguration") { $0.member("level", "error") }
        if !standards.entries.isEmpty {
            json.array("relationships") { json in
                for entry in standards.entries { json.object { writeRelationship(to: entry, &$0) } }
            }
        }
        json.object("properties") { json in
            json.member("tags", ["security"] + standards.cwe.map { "external/cwe/" + $0.id.lowercased() })
            json.member("precision", "very-high")
            json.member("group", attack.group?.rawValue)
        }
    }

    private func writeRelationship(to entry: AttackStandards.Entry, _ json: inout JSONWriter) {
        guard let index = taxonomies.firstIndex(where: { $0.list == entry.list }) else { return }
        json.object("target") { json in
            json.member("id", entry.id)
            json.member("index", taxonomies[index].entries.firstIndex(of: entry))
            json.object("toolComponent") { writeReference(to: index, &$0) }
        }
        // Weaknesses contain the fault. Controls and tests are about it.
        let isWeakness = entry.list == .cwe || entry.list == .maswe
        json.member("kinds", [isWeakness ? "superset" : "relevant"])
    }

    private func writeReference(to index: Int, _ json: inout JSONWriter) {
        json.member("name", taxonomies[index].list.rawValue)
        json.member("index", index)
    }

    private func write(_ taxonomy: Taxonomy, _ json: inout JSONWriter) {
        json.member("name", taxonomy.list.rawValue)
        json.member("version", taxonomy.list.version)
        json.member("organization", taxonomy.list.organization)
        json.message("shortDescription", taxonomy.list.title)
        json.array("taxa") { json in
            for entry in taxonomy.entries {
                json.object { json in
                    json.member("id", entry.id)
                    json.message("shortDescription", entry.title)
                }
            }
        }
    }

    private func write(_ result: RehearsalResult, _ json: inout JSONWriter) {
        let attack = result.attack
        json.member("ruleId", attack.id)
        json.member("ruleIndex", rules.firstIndex { $0.id == attack.id })
        json.member("level", result.outcome == .inconclusive ? "warning" : "error")
        let verdict = "must be \(attack.expectation.rawValue), was \(result.outcome.word.lowercased())"
        let why = [verdict, result.why].compactMap(\.self).joined(separator: "; ")
        let place = result.host.map { " at \($0)" } ?? ""
        json.message("message", Self.sentence("\(attack.summary)\(place): \(why)"))
        json.array("locations") { json in
            json.object { json in
                json.object("physicalLocation") { json in
                    json.object("artifactLocation") { $0.member("uri", client.uri) }
                    json.object("region") { $0.member("startLine", 1) }
                }
                json.array("logicalLocations") { json in
                    json.object { json in
                        json.member("name", client.path)
                        json.member("fullyQualifiedName", client.line)
                        json.member("kind", "module")
                    }
                }
            }
        }
        json.object("partialFingerprints") { $0.member("primaryLocationLineHash", fingerprint(result)) }
        json.object("properties") { json in
            json.member("outcome", result.outcome.rawValue)
            json.member("requestBytes", result.requestBytes)
            json.member("host", result.host)
            json.member("connection", result.connection)
            json.member("alert", result.alert)
        }
    }

    /// Returns a hash of the attack, the named host and the client, which stays the same from run to run. GitHub reads it under the name
    /// `primaryLocationLineHash` and expects the number of the occurrence behind it.
    private func fingerprint(_ result: RehearsalResult) -> String {
        let finding = [result.attack.id, client.path, result.host].compactMap(\.self).joined(separator: "\n")
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
