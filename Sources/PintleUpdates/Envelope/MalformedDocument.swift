internal import Pintle

/// A parse error: the message and its place in the document.
public struct MalformedDocument: Sendable, Hashable {
    /// One line, lower case, no full stop.
    public let message: String
    /// The line, 1-based.
    public let line: Int
    /// The column, 1-based, in Unicode scalars from the start of the line.
    public let column: Int

    init(_ error: JSONError) {
        message = error.hint.map { "\(error.message); \($0)" } ?? error.message
        line = error.line
        column = error.column
    }

    init(_ message: String, at place: JSONPlace) {
        self.message = message
        line = place.line
        column = place.column
    }
}

extension MalformedDocument: CustomStringConvertible {
    /// `3:14: "version" is not an integer, written in digits`
    public var description: String { "\(line):\(column): \(message)" }
}
