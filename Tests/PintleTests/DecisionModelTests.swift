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
            "approved", "vouch", "question", "answering", "client", "no-rule", "cross", "reading",
        ])
    func agrees(name: String) throws {
        let family = try ModelFamily(name)
        var (compared, differences) = (0, 0)
        for number in stride(from: 0, to: family.answers.count, by: Self.step) {
            guard let answer = try? family.answer(of: family.state(number)) else { continue }
            let expected = try #require(family.legend[family.answers[number]])
            compared += 1
            for (key, value) in answer where expected[key] != nil || value != "null" {
                let wanted = expected[key].map(ModelFamily.text) ?? "absent"
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
#endif
