/// A problem that weakens a session's pins, or would have. `PintleURLSession` finds it when it creates the session.
public struct SessionTrouble: Sendable, Hashable {
    /// The kind of trouble; stable.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The configuration has a `URLProtocol` that belongs neither to the system nor to this package. Debugging
        /// tools add such a class to every configuration, and it sends requests past the pins.
        case foreignProtocol = "foreign-protocol"
    }

    /// The stable code of the trouble: `foreign-protocol`, for a `URLProtocol` in the configuration that belongs neither to the
    /// system nor to this package.
    public var code: String { kind.rawValue }
    package let kind: Code
    /// The names of the classes concerned.
    public let classes: [String]
    /// A Boolean value that indicates whether the session is free of the problem.
    public let isResolved: Bool
    /// A description for people.
    public let text: String

    /// - Parameters:
    ///   - kind: the kind of trouble.
    ///   - classes: the names of the classes concerned.
    ///   - isResolved: `true` if the session is free of the problem.
    ///   - text: a description for people.
    package init(_ kind: Code, classes: [String], isResolved: Bool, text: String) {
        self.kind = kind
        self.classes = classes
        self.isResolved = isResolved
        self.text = text
    }
}

extension SessionTrouble: CustomStringConvertible {
    /// The code and the text, in one line.
    public var description: String { "session \(code): \(text)" }
}
