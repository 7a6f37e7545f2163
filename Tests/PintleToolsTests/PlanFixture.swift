import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

/// Plans for tests, and the output of the tool for them.
struct PlanFixture {
    static let examples =
        #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" } + "/Examples/plans"

    /// Distinct pins that belong to no real key.
    static let current = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    static let next = "sha256/G3R3ndolfPXNTUWk8DKA64dIb9/12RNUaG8o1JFeAxw="
    static let spare = "sha256/FJzAD/9HX+dwkNyb/QVbtEG+aX9N1Z0/XzkzxxfHY+w="
    static let foreign = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="
    static let root = "sha256/5MyVhN0bErb8ghMyw1dTQT5XG26+c+P12A0/6YgEBS4="

    /// The members of a policy's rule for the server.
    var rule = #""pins": ["\#(current)"], "backupPins": ["\#(spare)"]"#
    /// The members of a whole policy besides its rules.
    var policyMembers = ""
    var host = "api.example.com"
    var keys = """
        {"name": "current", "pin": "\(current)"}, {"name": "next", "pin": "\(next)"}, {"name": "root", "pin": "\(root)"}
        """
    /// The members of the two certificates.
    var before = #""keys": ["current", "root"], "notBefore": "2026-11-01", "notAfter": "2027-06-01""#
    var after = #""keys": ["next", "root"], "notBefore": "2026-11-01", "notAfter": "2027-06-01""#
    var switched = "2027-01-10"
    var fetches = false
    /// The end of the support for version 1.0.
    var supportedUntil: String?
    /// The versions after 1.0, each with a comma before it.
    var moreApps = ""
    var updates = ""
    /// The days until most users have fetched an update; `nil` leaves the key out.
    var daysToFetch: Int? = 1
    var until = "2027-03-01"

    func policy(_ rule: String? = nil) -> String {
        #"{"version": 1, \#(policyMembers)"hosts": [{"host": "\#(host)", \#(rule ?? self.rule)}]}"#
    }

    /// Adds version 2.0.
    mutating func addVersion(released: String, rule: String, fetches: Bool = false, policy: String? = nil) {
        moreApps = """
            , {"version": "2.0", "released": "\(released)", "policy": \(policy ?? self.policy(rule)),
              "fetchesUpdates": \(fetches)}
            """
    }

    var text: String {
        """
        {"version": 1, "until": "\(until)", "keys": [\(keys)],
         "certificates": [{"name": "before", \(before)}, {"name": "after", \(after)}],
         "servers": [{"host": "api.example.com", "serves": [{"from": "2026-11-01", "certificate": "before"},
           {"from": "\(switched)", "certificate": "after"}]}],
         "apps": [{"version": "1.0", "released": "2026-01-01", "policy": \(policy()),
           \(supportedUntil.map { "\"supportedUntil\": \"\($0)\", " } ?? "")"fetchesUpdates": \(fetches)}\(moreApps)],
         \(daysToFetch.map { "\"daysToFetch\": \($0), " } ?? "")"updates": [\(updates)]}
        """
    }

    func outcome(at now: String = "2026-11-20") throws -> PlanOutcome {
        try PlanOutcome(ToolRun("plan", "-", "--json", "--at", now, input: Array(text.utf8)))
    }
}

/// The output of `pintle plan --json`.
struct PlanOutcome {
    let code: Int32
    let document: JSONValue

    init(_ run: ToolRun) throws {
        code = run.code
        document = try JSONDocument(Array(run.output.utf8), limits: .init(allowsAnyNumber: true)).root
    }

    /// The lock-outs, such as `1.0 from 2027-03-01T00:00:00Z until ... pin-mismatch`.
    var lockOuts: [String] {
        elements("lockouts").map { item in
            let until = text(item, "until").map { " until \($0)" } ?? ""
            let failure = text(item, "pathFailure").map { " \($0)" } ?? ""
            return "\(text(item, "app") ?? "") from \(text(item, "from") ?? "")\(until) "
                + "\(text(item, "reason") ?? "")\(failure)"
        }
    }

    var advice: [String] { elements("advice").compactMap { text($0, "id") } }
    /// The result of the first update for each app: `accepted`, or the error.
    var firstUpdate: [String] {
        let apps = elements("updates").first?["apps"]?.elements.map(Array.init) ?? []
        return apps.map { text($0, "error") ?? text($0, "result") ?? "" }
    }
    var notes: Int { document["notes"]?.count ?? 0 }
    var result: String? { document["result"]?.string }
    var notSimulated: [String] { elements("notSimulated").compactMap(\.string) }

    func elements(_ key: StaticString) -> [JSONValue] { document[key]?.elements.map(Array.init) ?? [] }

    func text(_ value: JSONValue, _ key: StaticString) -> String? {
        value[key].map { $0.string ?? String(decoding: $0.source, as: UTF8.self) }
    }
}
