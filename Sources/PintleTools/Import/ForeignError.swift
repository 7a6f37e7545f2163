internal import Pintle

/// A place in a foreign file, counted as editors do, from 1.
struct ForeignPlace: Sendable, Hashable {
    let line: Int
    let column: Int
}

/// The reason why a foreign file cannot be read as a policy. Reading ends at the first reason, because the rest could only
/// be guessed.
struct ForeignError: Error, Sendable {
    let place: ForeignPlace?
    /// Stable, for scripts.
    let code: String
    /// One line, lower case, no full stop.
    let message: String
    var hint: String?

    init(_ code: String, _ message: String, at place: ForeignPlace?, hint: String? = nil) {
        self.place = place
        self.code = code
        self.message = message
        self.hint = hint
    }
}

extension ToolError {
    init(_ error: ForeignError, file: String) {
        self = .unusable(
            error.code, error.message, file: file, line: error.place?.line, column: error.place?.column,
            hint: error.hint)
    }
}

/// The limits of readers of foreign files.
enum ForeignLimits {
    static let fileSize = 16 << 20
    /// The most elements, values or words.
    static let items = 1 << 20
    /// The deepest nesting of elements, arrays or dictionaries.
    static let depth = 48
}
