/// The place of a value in a policy, as the steps that lead to it: `hosts[0].pins[1]`.
package struct PolicyPath: Sendable, Hashable {
    package enum Step: Sendable, Hashable {
        case member(String)
        /// An element of a list, from 0.
        case element(Int)
    }

    /// From the outermost step to the innermost.
    package let steps: [Step]

    /// The policy itself.
    package static let root = PolicyPath(steps: [])

    /// A member of the policy, or of the rule that the place is inside.
    package static func member(_ name: String) -> PolicyPath { root[name] }

    /// A rule by its index: `hosts[3]`.
    package static func rule(_ index: Int) -> PolicyPath { member("hosts")[index] }

    package subscript(name: String) -> PolicyPath { PolicyPath(steps: steps + [.member(name)]) }

    package subscript(index: Int) -> PolicyPath { PolicyPath(steps: steps + [.element(index)]) }

    package var isRoot: Bool { steps.isEmpty }

    /// The place that the last step starts from; the root is its own.
    package var parent: PolicyPath { PolicyPath(steps: steps.dropLast()) }

    /// The index of the rule that the place is inside; `nil` for places outside of all rules.
    package var ruleIndex: Int? {
        guard steps.count >= 2, steps[0] == .member("hosts"), case .element(let index) = steps[1] else { return nil }
        return index
    }

    /// Returns the same place, seen from where `outer` is seen from.
    func inside(_ outer: PolicyPath) -> PolicyPath { PolicyPath(steps: outer.steps + steps) }

    private init(steps: some Sequence<Step>) {
        self.steps = Array(steps)
    }
}

extension PolicyPath: CustomStringConvertible {
    /// `hosts[0].pins[1]`; empty for the policy itself.
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
