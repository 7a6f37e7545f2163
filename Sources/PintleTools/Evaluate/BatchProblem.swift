internal import Pintle
internal import PintleOpenSSL

/// The reason why a line cannot be read as a case.
struct BatchProblem: Error {
    let code: String
    let message: String
    /// The column within the line.
    var column: Int?
    var hint: String?

    init(_ code: String, _ message: String, at value: JSONValue? = nil, hint: String? = nil) {
        self.code = code
        self.message = message
        column = value?.place.column
        self.hint = hint
    }

    init(_ error: JSONError) {
        self.init(error.code.rawValue, error.message, hint: error.hint)
        column = error.column
    }

    init(_ error: PolicyError) {
        let others = error.problems.count - 1
        let more = others > 0 ? " (and \(ValidityText.counted(others, "other problem")))" : ""
        let first = error.problems.first
        let place = first.map { $0.path.isEmpty ? "policy: " : "policy.\($0.path): " } ?? "policy: "
        self.init(first?.id ?? "invalid-policy", place + (first?.message ?? "") + more, hint: first?.help)
        column = first?.column
    }
}
