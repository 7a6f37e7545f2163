import FoundationEssentials
import Pintle
import Testing

@testable import PintleConsole
@testable import PintlePolicyLint
@testable import PintlePolicyTools

@Suite("Files of authority families")
struct FamilyFileTests {
    private static let pin = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="

    private func problems(_ text: String) -> [String] {
        do throws(ToolError) {
            _ = try FamilyFile.families(Array(text.utf8), file: "families.json")
            return []
        } catch {
            #expect(error.all.allSatisfy { $0.file == "families.json" && $0.line != nil && $0.hint != nil })
            return error.all.map { "\($0.code) \($0.line ?? 0)" }
        }
    }

    private func file(_ family: String, edges: String = "[]") -> String {
        "{\"version\": 1, \"date\": \"2027-01-01\",\n\"families\": [\(family)],\n\"edges\": \(edges)}"
    }

    private func family(_ members: String, id: String = "a") -> String {
        "{\"id\": \"\(id)\", \"name\": \"The \(id)\", \"roots\": [\(members)]}"
    }

    private static let root = "{\"name\": \"R\", \"pin\": \"\(pin)\", \"from\": \"a page\"}"

    @Test("A whole file has no problem, and each part of it can be asked for")
    func whole() throws {
        let text = """
            {"version": 1, "date": "2027-01-01", "families": [
              {"id": "a", "name": "A", "aliases": ["aa"],
               "sources": [{"url": "https://a.example", "read": "2027-01-01", "sentence": "S."}],
               "advice": [{"url": "https://a.example", "read": "2027-01-01", "sentence": "Do not pin."}],
               "lifetimes": [{"days": 90}, {"from": "2027-02-10", "days": 64}],
               "rotation": {"sources": [{"url": "https://a.example", "read": "2027-01-01", "sentence": "R."}]},
               "roots": [\(Self.root), {"name": "Q", "missing": "not published"}],
               "intermediates": [{"name": "I", "pin": "sha256/G3R3ndolfPXNTUWk8DKA64dIb9/12RNUaG8o1JFeAxw=", "from": "p"}]}],
             "edges": [{"id": "e", "name": "E", "families": ["a"]}]}
            """
        let families = try FamilyFile.families(Array(text.utf8), file: "f")
        let family = try #require(families.selection(named: "AA")?.families.first)
        #expect(family.pins == [try PublicKeyPin(Self.pin)])
        #expect(family.missing.map(\.name) == ["Q"])
        #expect(
            families.family(ofIntermediate: try PublicKeyPin("G3R3ndolfPXNTUWk8DKA64dIb9/12RNUaG8o1JFeAxw="))?.id == "a"
        )
        #expect(families.edges(of: family).map(\.id) == ["e"])
        let day = { (text: String) in try RFC3339.date(from: text + "T00:00:00Z") }
        #expect(family.lifetime(at: try day("2027-02-09"))?.days == 90)
        #expect(family.lifetime(at: try day("2027-02-10"))?.days == 64)
    }

    @Test("A retired key needs the day on which its last certificate ended")
    func retired() throws {
        func text(_ end: String) -> String {
            file(
                "{\"id\": \"a\", \"name\": \"A\", \"roots\": [{\"name\": \"Q\", \"missing\": \"m\"}],\n"
                    + "\"retired\": [{\"name\": \"R\", \"pin\": \"\(Self.pin)\"\(end), \"from\": \"p\"}]}")
        }
        #expect(problems(text("")) == ["missing-key 3"])
        let families = try FamilyFile.families(Array(text(", \"notAfter\": \"2025-09-15\"").utf8), file: "f")
        let ended = families.endedKey(try PublicKeyPin(Self.pin), at: try RFC3339.date(from: "2025-09-16T00:00:00Z"))
        #expect(ended?.key.name == "R")
        #expect(families.families.first?.pins.isEmpty == true)
    }

    @Test(
        "A damaged file is refused with the places of its problems",
        arguments: [
            ("{\"version\": 1", ["unexpected-end 1"]),
            ("[]", ["wrong-type 1"]),
            (
                "{\"version\": 2, \"date\": \"2027-01-01\", \"families\": []}",
                ["unsupported-version 1", "empty-list 1"]
            ),
        ])
    func damaged(text: String, expected: [String]) {
        #expect(problems(text) == expected)
    }

    @Test("Roots without a hash, twice, or with a broken one are refused; a root that is missing says why")
    func roots() {
        #expect(problems(file(family(Self.root))) == [])
        #expect(problems(file(family("{\"name\": \"R\"}"))) == ["missing-key 2", "missing-key 2"])
        #expect(problems(file(family(Self.root + ", " + Self.root))) == ["duplicate-pin 2"])
        #expect(
            problems(file(family("{\"name\": \"R\", \"pin\": \"sha256/AAAA\", \"from\": \"p\"}"))) == [
                "wrong-pin-length 2"
            ])
        #expect(problems(file(family("{\"name\": \"R\", \"missing\": \"not found\"}"))) == [])
        #expect(
            problems(file(family("{\"name\": \"R\", \"pin\": \"\(Self.pin)\", \"missing\": \"m\"}"))) == [
                "pin-of-missing 2"
            ])
        #expect(problems(file(family("{\"name\": \"R\", \"missing\": \"\\u001b[2J\"}"))) == ["invalid-text 2"])
    }

    @Test("Two families of one name, and edges with unknown families, are refused")
    func names() {
        let other = "{\"name\": \"R\", \"missing\": \"m\"}"
        #expect(
            problems(file(family(Self.root) + ",\n" + family(other))).map { $0.prefix(14) } == [
                "duplicate-name", "duplicate-name",
            ])
        #expect(
            problems(file(family(Self.root), edges: "[{\"id\": \"e\", \"name\": \"E\", \"families\": [\"b\"]}]"))
                == ["unknown-name 3"])
        #expect(
            problems(file(family(Self.root), edges: "[{\"id\": \"e\", \"name\": \"E\", \"families\": [\"a\", \"a\"]}]"))
                == ["duplicate-name 3"])
    }

    @Test("An id is one word of a command line")
    func ids() {
        #expect(problems(file(family(Self.root, id: "a.b-c1"))) == [])
        #expect(problems(file(family(Self.root, id: "x; rm -rf ~ #"))) == ["invalid-id 2"])
    }

    @Test("Lifetimes are in the order of their days")
    func lifetimes() {
        func family(_ lifetimes: String) -> String {
            file("{\"id\": \"a\", \"name\": \"A\", \"lifetimes\": [\(lifetimes)], \"roots\": [\(Self.root)]}")
        }
        #expect(problems(family("{\"days\": 90}, {\"from\": \"2027-01-01\", \"days\": 45}")) == [])
        #expect(problems(family("{\"days\": 90}, {\"days\": 45}")) == ["dates-out-of-order 2"])
        #expect(problems(family("{\"days\": 0}")) == ["invalid-days 2"])
    }
}
