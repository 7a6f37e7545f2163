#if os(Linux)
import Foundation
import Testing

/// Compares the decision with `Models/decision.py`, whose author had only the text of `Specification/decision.md`.
///
/// Each test takes the states of a family in fixed steps. With `PINTLE_ALL_STATES` it takes all of them.
@Suite("The decision and its model")
struct DecisionModelTests {
    private static let takesAll = ProcessInfo.processInfo.environment["PINTLE_ALL_STATES"] != nil
    private static let step = takesAll ? 1 : 31

    @Test(
        "Every state of the model has the same answer",
        arguments: [
            "match", "terms", "choice", "expiry", "subsecond", "hosts", "pooling", "first", "failures", "standing",
            "approved", "client", "no-rule", "cross",
        ])
    func agrees(name: String) throws {
        let family = try ModelFamily(name)
        var (compared, differences) = (0, 0)
        for number in stride(from: 0, to: family.answers.count, by: Self.step) {
            guard let state = try? ModelState(family.state(number)) else { continue }
            let expected = try #require(family.legend[family.answers[number]])
            let answer = state.answer
            compared += 1
            for (key, value) in answer where expected[key] != nil || value != "null" {
                let wanted = expected[key].map { "\($0)" } ?? "absent"
                guard wanted != value, differences < 5 else { continue }
                differences += 1
                Issue.record("\(name) \(number): \(key) is \(value), and the model says \(wanted)")
            }
        }
        if Self.takesAll { print("\(name): \(compared) of \(family.answers.count) states compared") }
        // Some rules of the model are none that a policy can have.
        #expect(compared * 5 > 3 * family.answers.count / Self.step, "\(compared) of \(family.answers.count)")
    }
}

private typealias Object = ModelState.Object

/// The states of a family and the model's answers.
private struct ModelFamily {
    let legend: [Character: Object]
    let answers: [Character]
    private let defaults: Object
    private let base: Object
    private let dimensions: [[Object]]

    init(_ name: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", root.appendingPathComponent("Models/decision.py").path, "family", name]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = output.split(separator: "\n")
        try #require(process.terminationStatus == 0 && lines.count > 2, "the model gave no family \(name)")
        let head = try #require(try Self.object(lines[0]))
        let fixed = try #require(head["fixed"] as? Object)
        defaults = try #require(head["defaults"] as? Object).merging(fixed) { $1 }
        base = try #require(head["baseRule"] as? Object)
        dimensions = try #require(head["dimensions"] as? [Object]).map { try #require($0["values"] as? [Object]) }
        let legend = try #require(try Self.object(lines[1])?["legend"] as? [String: Object])
        self.legend = Dictionary(uniqueKeysWithValues: legend.map { (Character($0), $1) })
        answers = Array(lines.dropFirst(2).joined())
        let count = try #require(head["count"] as? Int)
        try #require(answers.count == count)
    }

    private static func object(_ line: Substring) throws -> Object? {
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? Object
    }

    /// Returns the fields of a state. `rules` has the policy's rules.
    func state(_ number: Int) -> Object {
        var (fields, rest) = (defaults, number)
        var values: [Object] = []
        for dimension in dimensions.reversed() {
            values.append(dimension[rest % dimension.count])
            rest /= dimension.count
        }
        var rule: Object? = base
        var added: [Object] = []
        for value in [defaults] + values.reversed() {
            for (key, member) in value {
                switch key {
                case "rule": rule = (member as? Object).flatMap { members in rule?.merging(members) { $1 } }
                case "addRule": added += (member as? [Object] ?? []).map { base.merging($0) { $1 } }
                default: fields[key] = member
                }
            }
        }
        fields["rules"] = (rule.map { [$0] } ?? []) + added
        return fields
    }
}
#endif
