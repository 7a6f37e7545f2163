/// Why bytes are not a file of approvals: the first thing that is wrong, and where.
public struct ApprovalFileError: Error, Sendable, Hashable {
    /// Stable, for machines: `unsupported-version`, `unknown-key`, `trailing-content`...
    public let id: String
    /// 1-based.
    public let line: Int
    /// 1-based, in Unicode scalars from the start of the line.
    public let column: Int
    /// Lower case, no full stop. Text out of the file is escaped and shortened.
    public let message: String

    /// Whether a later release wrote it: it is sound, and not ours to judge.
    public var isUnsupportedVersion: Bool { id == Self.unsupportedVersion }

    static let unsupportedVersion = "unsupported-version"

    init(_ error: JSONError) {
        id = error.code.rawValue
        (line, column) = (error.line, error.column)
        message = error.message
    }

    init(_ id: String, at value: JSONValue, _ message: String) {
        self.id = id
        let place = value.place
        (line, column) = (place.line, place.column)
        self.message = message
    }
}

extension ApprovalFileError: CustomStringConvertible {
    /// Line, column, id and message, in one line.
    public var description: String { "\(line):\(column): \(id): \(message)" }
}
