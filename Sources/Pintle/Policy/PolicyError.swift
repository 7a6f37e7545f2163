/// All problems of a policy at once.
public struct PolicyError: Error, Sendable, Hashable {
    /// The problems, at least one: in the order of the file, or in the order found for a policy written in Swift.
    public let problems: [PolicyProblem]

    package init(_ problems: [PolicyProblem]) {
        self.problems = problems
    }

    /// The maximum number of problems that are reported. A hostile file could have millions.
    package static let maximumProblems = 1_000

    package static func throwIfAny(_ problems: [PolicyProblem]) throws(PolicyError) {
        guard problems.isEmpty else { throw PolicyError(problems) }
    }
}

extension PolicyError: CustomStringConvertible {
    /// The problems, one a line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

/// One problem of a policy: its place, its description, and the remedy.
public struct PolicyProblem: Sendable, Hashable {
    /// A stable code for machines, such as `no-backup-pin`.
    public let id: String
    package let place: PolicyPath
    /// The line of the problem, counted from 1; `nil` if the policy was not read from text.
    public let line: Int?
    /// The column of the problem, counted from 1 in Unicode scalars; `nil` if ``line`` is `nil`.
    public let column: Int?
    /// The description, in lower case and without a full stop.
    public let message: String
    /// The remedy.
    public let help: String

    /// The place in the policy, such as `hosts[0].pins[1]`. Within a single rule it is `pins[1]`, and for the policy
    /// itself it is empty.
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

    /// Creates a problem from the error of a pin.
    ///
    /// - Parameter host: the rule's host, to be named in the message if neither a file position nor the place names the
    ///   rule.
    package init(_ error: PinError, at place: PolicyPath, of host: String? = nil) {
        let rule = host.map { ", in the rule for \($0)" } ?? ""
        self.init(id: error.code, at: place, message: error.description + rule, help: error.hint)
    }

    package init(_ error: ServerNameError, at place: PolicyPath = .member("host")) {
        self.init(id: "invalid-host", at: place, message: error.description, help: error.hint)
    }

    /// Returns this problem of a rule with its place in the policy: `host` becomes `hosts[3].host`.
    package func inside(_ rule: PolicyPath) -> PolicyProblem {
        PolicyProblem(
            id: id, at: place.inside(rule), line: line, column: column, message: message, help: help)
    }
}

extension PolicyProblem: CustomStringConvertible {
    /// Line and column, place, id, description and remedy, on one line.
    public var description: String {
        let position = line.map { "\($0):\(column ?? 1): " } ?? ""
        return "\(position)\(place.isRoot ? "" : "\(place): ")\(id): \(message); \(help)"
    }
}
