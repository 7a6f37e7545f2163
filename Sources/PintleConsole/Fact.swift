package import PintlePolicyFile

/// A fact about a result, declared once. The members of the result's JSON, the lines of its text, and the table of keys
/// in help and reference are made of a list of facts.
package struct Fact<Subject>: Sendable {
    /// The key in JSON.
    package let key: String
    /// The meaning of the value; `nil` if the fact before explains this one too.
    let help: String?
    private let write: @Sendable (Subject, inout JSONWriter) -> Void
    private var line: Lines?

    /// The lines in text.
    private struct Lines: Sendable {
        let label: String
        let isDetail: Bool
        let isWrapped: Bool
        let make: @Sendable (Subject) -> [Line]
    }

    private init(_ key: String, _ help: String?, write: @escaping @Sendable (Subject, inout JSONWriter) -> Void) {
        (self.key, self.help, self.write) = (key, help, write)
    }

    /// Creates a fact whose member is absent if the value is `nil`.
    package init<Value: JSONRepresentable>(
        _ key: String, _ help: String? = nil, _ value: @escaping @Sendable (Subject) -> Value?
    ) {
        self.init(key, help) { subject, json in json.member(key, value(subject)) }
    }

    /// Creates a fact that is an object with facts of its own.
    ///
    /// - Parameter namesKeys: `false` if the help says where its keys are explained, and does not name them.
    package init<Part>(
        _ key: String, _ help: String, namesKeys: Bool = true, _ facts: [Fact<Part>],
        _ part: @escaping @Sendable (Subject) -> Part?
    ) {
        self.init(key, help + (namesKeys ? ": \(facts.codes())" : "")) { subject, json in
            guard let part = part(subject) else { return }
            json.object(key) { $0.write(facts, of: part) }
        }
    }

    /// Creates a fact that is a list of objects with facts of their own. The help names their keys.
    package init<Part>(
        _ key: String, _ help: String, listing facts: [Fact<Part>], _ parts: @escaping @Sendable (Subject) -> [Part]?
    ) {
        self.init(key, help + ": \(facts.codes())") { subject, json in
            guard let parts = parts(subject) else { return }
            json.objects(key, parts) { $0.write(facts, of: $1) }
        }
    }

    /// Creates a fact whose text is the value as it is in JSON.
    package init<Value: JSONRepresentable & CustomStringConvertible>(
        _ key: String, shown label: String, _ help: String? = nil, _ value: @escaping @Sendable (Subject) -> Value?
    ) {
        self = Fact(key, help, value).shown(as: label) { value($0).map { ["\($0)"] } ?? [] }
    }

    /// Returns the fact with lines in text, the first of which has the label.
    ///
    /// - Parameters:
    ///   - isDetail: `true` for a fact that only `--verbose` shows.
    ///   - isWrapped: `true` for sentences, which are wrapped between words.
    package func shown(
        as label: String, isDetail: Bool = false, isWrapped: Bool = false,
        _ lines: @escaping @Sendable (Subject) -> [Line]
    ) -> Fact {
        var fact = self
        fact.line = Lines(label: label, isDetail: isDetail, isWrapped: isWrapped, make: lines)
        return fact
    }

    /// Returns the fact of a value that this one is about a part of. It is absent without the part.
    package func of<Whole>(_ part: @escaping @Sendable (Whole) -> Subject?) -> Fact<Whole> {
        let (write, line) = (write, line)
        let fact = Fact<Whole>(key, help) { whole, json in
            if let part = part(whole) { write(part, &json) }
        }
        guard let line else { return fact }
        return fact.shown(as: line.label, isDetail: line.isDetail, isWrapped: line.isWrapped) {
            part($0).map(line.make) ?? []
        }
    }

    fileprivate func add(to json: inout JSONWriter, _ subject: Subject) { write(subject, &json) }

    fileprivate func texts(of subject: Subject) -> [String] {
        line.map { line in line.make(subject).map { "\(line.label): \($0.text)" } } ?? []
    }

    fileprivate func add(to report: inout Report, _ subject: Subject, showsDetails: Bool) {
        guard let line, showsDetails || !line.isDetail else { return }
        report.fact(Line(line.label), line.make(subject).map { line.isWrapped ? .wrapped($0) : .whole($0) })
    }
}

extension JSONWriter {
    /// Writes the members of an object.
    package mutating func write<Subject>(_ facts: [Fact<Subject>], of subject: Subject) {
        for fact in facts { fact.add(to: &self, subject) }
    }
}

extension Report {
    package mutating func add<Subject>(_ facts: [Fact<Subject>], of subject: Subject, showsDetails: Bool = false) {
        for fact in facts { fact.add(to: &self, subject, showsDetails: showsDetails) }
    }
}

/// Rows of a table of keys: the keys without backticks, separated by a comma and a blank if they share a meaning.
package typealias KeyRows = [(name: String, meaning: String)]

extension Array {
    /// The rows for these facts in help.
    package func rows<Subject>() -> KeyRows where Element == Fact<Subject> {
        reduce(into: []) { rows, fact in
            if let help = fact.help {
                rows.append((fact.key, help))
            } else if let last = rows.indices.last {
                rows[last].name += ", " + fact.key
            }
        }
    }

    /// The facts that have lines, as text: `reference: RFC 5280 section 6`.
    package func texts<Subject>(of subject: Subject) -> [String] where Element == Fact<Subject> {
        flatMap { $0.texts(of: subject) }
    }

    /// One row for all these facts, which another place explains.
    package func row<Subject>(_ meaning: String) -> KeyRows where Element == Fact<Subject> {
        [(map(\.key).joined(separator: ", "), meaning)]
    }

    /// The keys as code, separated by commas.
    package func codes<Subject>() -> String where Element == Fact<Subject> {
        map { "`\($0.key)`" }.joined(separator: ", ")
    }
}
