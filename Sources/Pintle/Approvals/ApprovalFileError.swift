/// The reason why bytes are not a valid approvals file: the first mistake and its position.
public struct ApprovalFileError: Error, Sendable, Hashable {
    /// A stable code for machines, such as `unsupported-version`, `unknown-key` or `trailing-content`.
    public let id: String
    /// The line of the mistake, counted from 1.
    public let line: Int
    /// The column of the mistake, counted from 1 in Unicode scalars.
    public let column: Int
    /// The reason for people, in lower case and without a full stop. Text quoted from the file is escaped and
    /// shortened.
    public let message: String

    /// A Boolean value that indicates whether a later version of Pintle wrote the file. Such a file may be intact, but
    /// this version cannot read it.
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
    /// The line, column, id and message on one line.
    public var description: String { "\(line):\(column): \(id): \(message)" }
}
