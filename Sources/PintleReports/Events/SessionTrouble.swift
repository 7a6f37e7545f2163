/// Something about a session that weakens its pins, or would have. `PintleURLSession` finds it when the session is made.
public struct SessionTrouble: Sendable, Hashable {
    /// The kinds of trouble. The raw values are stable.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The configuration had a `URLProtocol` that is neither the system's nor this package's. Debugging tools add
        /// one to every configuration, and it carries requests past the pins.
        case foreignProtocol = "foreign-protocol"
    }

    /// The stable code of the trouble: `foreign-protocol`, for a `URLProtocol` in the session's configuration that is neither
    /// the system's nor this package's.
    public var code: String { kind.rawValue }
    package let kind: Code
    /// The names of the classes that it is about.
    public let classes: [String]
    /// A Boolean value that indicates whether the session is free of it.
    public let isResolved: Bool
    /// A description of what happened, in words.
    public let text: String

    /// - Parameters:
    ///   - kind: what was found.
    ///   - classes: the names of the classes that it is about.
    ///   - isResolved: whether the session is free of it.
    ///   - text: what happened, in words.
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
