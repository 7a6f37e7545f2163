/// Everything that is wrong with a policy, all of it at once.
public struct PolicyError: Error, Sendable, Hashable {
    /// At least one: in the order of the file, or as they were found in a policy that was made in Swift.
    public let problems: [PolicyProblem]

    package init(_ problems: [PolicyProblem]) {
        self.problems = problems
    }

    /// More would be read by nobody; a hostile file could have millions.
    package static let maximumProblems = 1_000

    package static func throwIfAny(_ problems: [PolicyProblem]) throws(PolicyError) {
        guard problems.isEmpty else { throw PolicyError(problems) }
    }
}

extension PolicyError: CustomStringConvertible {
    /// One line a problem.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// One thing that is wrong with a policy: where, what, and what to do.
public struct PolicyProblem: Sendable, Hashable {
    /// Stable, for machines: `no-backup-pin`.
    public let id: String
    package let place: PolicyPath
    /// 1-based; `nil` for a policy that was not read from a text.
    public let line: Int?
    /// 1-based, in Unicode scalars from the start of the line; `nil` where ``line`` is.
    public let column: Int?
    /// Lower case, no full stop.
    public let message: String
    /// What to do about it.
    public let help: String

    /// The place in the policy: `hosts[0].pins[1]`; within a single rule `pins[1]`; empty for the policy itself.
    public var path: String { place.description }

    package init(id: String, at place: PolicyPath, line: Int? = nil, column: Int? = nil, message: String, help: String)
    {
        self.id = id
        self.place = place
        self.line = line
        self.column = column
        self.message = message
        self.help = help
    }

    /// - Parameter host: the rule's, where no file and no place in it says which.
    package init(_ error: PinError, at place: PolicyPath, of host: String? = nil) {
        let rule = host.map { ", in the rule for \($0)" } ?? ""
        self.init(id: error.code, at: place, message: error.description + rule, help: error.hint)
    }

    package init(_ error: ServerNameError, at place: PolicyPath = .member("host")) {
        self.init(id: "invalid-host", at: place, message: error.description, help: error.hint)
    }

    /// The same problem, seen from the policy: `host` becomes `hosts[3].host`.
    package func inside(_ rule: PolicyPath) -> PolicyProblem {
        PolicyProblem(
            id: id, at: place.inside(rule), line: line, column: column, message: message, help: help)
    }
}

extension PolicyProblem: CustomStringConvertible {
    /// Line and column, path, id, message and help, in one line.
    public var description: String {
        let position = line.map { "\($0):\(column ?? 1): " } ?? ""
        return "\(position)\(place.isRoot ? "" : "\(place): ")\(id): \(message); \(help)"
    }
}
