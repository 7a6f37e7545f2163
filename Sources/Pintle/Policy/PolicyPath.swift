/// The place of a value in a policy, as the steps from the root: `hosts[0].pins[1]`.
package struct PolicyPath: Sendable, Hashable {
    package enum Step: Sendable, Hashable {
        case member(String)
        /// An element of a list, counted from 0.
        case element(Int)
    }

    /// The steps, outermost first.
    package let steps: [Step]

    /// The place of the policy itself.
    package static let root = PolicyPath(steps: [])

    /// Returns the place of a member of the policy, or of a rule for places relative to a rule.
    package static func member(_ name: String) -> PolicyPath { root[name] }

    /// Returns the place of a rule: `hosts[3]`.
    package static func rule(_ index: Int) -> PolicyPath { member("hosts")[index] }

    package subscript(name: String) -> PolicyPath { PolicyPath(steps: steps + [.member(name)]) }

    package subscript(index: Int) -> PolicyPath { PolicyPath(steps: steps + [.element(index)]) }

    package var isRoot: Bool { steps.isEmpty }

    /// The place without its last step. The parent of the root is the root.
    package var parent: PolicyPath { PolicyPath(steps: steps.dropLast()) }

    /// The index of the rule that contains the place; `nil` for places outside all rules.
    package var ruleIndex: Int? {
        guard steps.count >= 2, steps[0] == .member("hosts"), case .element(let index) = steps[1] else { return nil }
        return index
    }

    /// Returns this place, which is relative to `outer`, as a place in the policy.
    func inside(_ outer: PolicyPath) -> PolicyPath { PolicyPath(steps: outer.steps + steps) }

    private init(steps: some Sequence<Step>) {
        self.steps = Array(steps)
    }
}

extension PolicyPath: CustomStringConvertible {
    /// The place as text: `hosts[0].pins[1]`; empty for the policy itself.
    package var description: String {
        var text = ""
        for step in steps {
            switch step {
            case .member(let name): text += text.isEmpty ? name : ".\(name)"
            case .element(let index): text += "[\(index)]"
            }
        }
        return text
    }
}
