import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

/// The schema for editors beside the reader of policy files.
@Suite(
    "Policy schema",
    .enabled(if: SchemaPython.path != nil, "skipped: no Python with jsonschema in $PINTLE_VENV"))
struct PolicySchemaTests {
    private static let pins = """
        "pins": ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="], "backupPins": "none-accepted"
        """

    /// A policy with each key that is no list of pins.
    private static let complete = """
        {"$schema": "s", "version": 1, "updateVersion": 7, "unpinnedHosts": "askUser", "updates": {"anyHost": true}, "hosts": [
        {"host": "a.example", "note": "n", "port": 8443, "includeSubdomains": true, "requires": "leafAndCA", "pins": [
        {"spki": "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=", "at": "leaf", "note": "n"},
        {"certificate": "\(String(repeating: "0a", count: 32))", "at": "ca", "note": "n"}], "backupPins": [
        {"spki": "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=", "at": "leaf"},
        {"certificate": "\(String(repeating: "0b", count: 32))", "at": "ca"}],
        "expiry": {"after": "2027-11-20T00:00:00Z", "then": "reject"}, "enforcement": "reportOnly",
        "anchors": {"system": true}, "minimumPathLength": 3, "reportTo": ["https://reports.example/"],
        "issuerKey": "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s=", "withdraws": "a stolen key"}]}
        """

    /// Returns which of the texts the schema accepts.
    private func accepted(_ texts: [String]) throws -> [Bool] {
        let directory = try TemporaryDirectory()
        var files: [String] = []
        for (index, text) in texts.enumerated() { files.append(try directory.write(text, to: "\(index).json")) }
        let script = """
            import json, sys, jsonschema
            validator = jsonschema.Draft202012Validator(json.load(open(sys.argv[1])))
            for path in sys.argv[2:]: print(validator.is_valid(json.load(open(path))))
            """
        let schema = "\(Recipes.root)/Examples/policy.schema.json"
        let run = try runProcess([try #require(SchemaPython.path), "-c", script, schema] + files)
        try #require(run.status == 0, "\(run.errorOutput)")
        return run.output.split(separator: "\n").map { $0 == "True" }
    }

    private func isRead(_ text: String) -> Bool { (try? PinningPolicy(json: Array(text.utf8))) != nil }

    @Test("The schema accepts the article's policy, the example's, and a policy with every key")
    func accepts() throws {
        let article = String(decoding: try Recipes.file("Sources/Pintle/Pintle.docc/PolicyFile.md"), as: UTF8.self)
        let block = try #require(article.split(separator: "```json\n").dropFirst().first?.split(separator: "```").first)
        let texts = [
            String(block), String(decoding: try Recipes.file("Examples/android/policy.json"), as: UTF8.self),
            Self.complete,
        ]
        for text in texts { #expect(isRead(text), "\(text)") }
        #expect(try accepted(texts).allSatisfy(\.self))
    }

    @Test("What the schema refuses is an error of the policy too")
    func refuses() throws {
        let rules = [
            #""hosts": "a.example""#, #""hosts": [{}]"#, #""hosts": [{"host": 1}]"#,
            #""hosts": [{"host": "a.example", "note": "two\nlines", \#(Self.pins)}]"#,
            #""hosts": [{"host": "a.example", "note": "\#(String(repeating: "n", count: 201))", \#(Self.pins)}]"#,
            #""hosts": [{"host": "a.example", "port": 0}]"#, #""hosts": [{"host": "a.example", "pin": []}]"#,
            #""hosts": [{"host": "a.example", "pins": [{"at": "leaf"}]}]"#,
            #""hosts": [{"host": "a.example", "minimumPathLength": 11, \#(Self.pins)}]"#,
            #""hosts": [{"host": "a.example", "expiry": {"after": "2027-11-20T00:00:00Z"}, \#(Self.pins)}]"#,
            #""hosts": [], "unpinnedHosts": "allow""#, #""hosts": [], "updates": {"anyHost": 1}"#,
        ]
        let texts = rules.map { "{\"version\": 1, \($0)}" } + [#"{"hosts": []}"#, #"{"version": 2, "hosts": []}"#]
        for text in texts { #expect(!isRead(text), "\(text)") }
        #expect(try !accepted(texts).contains(true))
    }
}

/// A Python with the module `jsonschema`, in the virtual environment.
private enum SchemaPython {
    static let path: String? = {
        let path = HTTP2Client.environment + "/bin/python3"
        return (try? runProcess([path, "-c", "import jsonschema"]))?.status == 0 ? path : nil
    }()
}
