internal import Pintle
internal import PintleSystem

/// An option with a value. Its type says what a command reads:
///
/// ```swift
/// static let policy = Option("policy", .file("FILE"), required: "the policy decides", help: ...)        // String
/// static let parallel = Option("parallel", .number("NUMBER", in: 1...500), default: 100, help: ...)     // Int
/// static let timeLimit = Option("time-limit", .number("SECONDS", in: 1...604_800), help: ...)           // Int?
/// static let hosts = Option(repeated: "hosts", .file("FILE"), help: ...)                                // [String]
///
/// let parallel = invocation.arguments[.parallel]
/// ```
///
/// The parser reads every value before the command runs, so a command neither parses a value nor checks its range.
// Safe: as in the superclass, every property is a constant of a Sendable type.
package final class Option<Value: Sendable>: OptionSpecification, @unchecked Sendable {
    /// The value without the option; `nil` if the option is required.
    let absent: Value?
    private let reader: @Sendable ([String]) throws(OptionError) -> Value

    private init<Element>(
        _ name: String, _ short: Character?, _ format: ValueFormat<Element>, mayRepeat: Bool = false, _ help: String,
        defaultText: String? = nil, requirement: String? = nil, absent: Value?,
        combine: @escaping @Sendable ([Element]) -> Value?
    ) {
        self.absent = absent
        reader = { texts throws(OptionError) in
            var elements: [Element] = []
            for text in texts {
                guard let element = try format.read(text) else { throw .notAValue(text) }
                elements.append(element)
            }
            guard let value = combine(elements) else { throw .notAValue("") }
            return value
        }
        super.init(
            name: name, short: short, value: format.shape, mayRepeat: mayRepeat, help: help, range: format.range,
            defaultText: defaultText, requirement: requirement)
    }

    /// An option that may be left out.
    ///
    /// - Parameter defaultText: the effect of leaving it out, for the help.
    package convenience init<Element>(
        _ name: String, short: Character? = nil, _ format: ValueFormat<Element>, defaultText: String? = nil,
        help: String
    ) where Value == Element? {
        self.init(name, short, format, help, defaultText: defaultText, absent: .some(nil)) { $0.last }
    }

    package convenience init(
        _ name: String, short: Character? = nil, _ format: ValueFormat<Value>, default value: Value, help: String
    ) {
        self.init(name, short, format, help, defaultText: "\(value)", absent: value) { $0.last }
    }

    /// An option that the command cannot do without.
    package convenience init(
        _ name: String, short: Character? = nil, _ format: ValueFormat<Value>, required reason: String, help: String
    ) {
        self.init(name, short, format, help, requirement: reason, absent: nil) { $0.last }
    }

    /// An option that may be repeated.
    package convenience init<Element>(
        repeated name: String, short: Character? = nil, _ format: ValueFormat<Element>, defaultText: String? = nil,
        required reason: String? = nil, help: String
    ) where Value == [Element] {
        self.init(
            name, short, format, mayRepeat: true, help, defaultText: defaultText, requirement: reason, absent: []
        ) { $0 }
    }

    override func read(_ texts: [String]) throws(OptionError) -> any Sendable { try reader(texts) }
}

/// The reason why a text is not a value of an option.
package enum OptionError: Error {
    /// The help says which values there are.
    case notAValue(String)
    /// The values in words, which follow the option's name and "takes".
    case takes(String)
    /// An error with its own code and words, which the parser places at the option.
    case unusable(ToolError)
}

/// The texts that an option takes, and the values that they stand for.
package struct ValueFormat<Value: Sendable>: Sendable {
    let shape: OptionSpecification.Value
    /// The values in words: `1 to 500`.
    let range: String?
    /// Returns `nil` for a text that is not a value.
    let read: @Sendable (String) throws(OptionError) -> Value?

    package init(
        shape: OptionSpecification.Value, range: String? = nil,
        read: @escaping @Sendable (String) throws(OptionError) -> Value?
    ) {
        self.shape = shape
        self.range = range
        self.read = read
    }

    /// Returns the format with an error in these words, `--parallel takes a number from 1 to 64`. The help of such an
    /// option says by itself which values there are.
    package func taking(_ values: String) -> ValueFormat {
        ValueFormat(shape: shape) { text throws(OptionError) in
            guard let value = try read(text) else { throw .takes(values) }
            return value
        }
    }

    /// - Parameter read: throws an error that says more than the range does.
    package static func reading(
        _ placeholder: String, _ read: @escaping @Sendable (String) throws(ToolError) -> Value
    ) -> ValueFormat {
        ValueFormat(shape: .text(placeholder)) { text throws(OptionError) in
            do throws(ToolError) {
                return try read(text)
            } catch {
                throw .unusable(error)
            }
        }
    }
}

extension ValueFormat<String> {
    /// - Parameter suggestions: the words that completion offers. The text may be any other.
    package static func text(_ placeholder: String, suggestions: [String] = []) -> ValueFormat {
        ValueFormat(shape: .text(placeholder, suggestions: suggestions)) { $0 }
    }

    /// The path of a file that is read, or changed.
    package static func file(_ placeholder: String) -> ValueFormat { ValueFormat(shape: .file(placeholder)) { $0 } }

    /// The path of a file or folder that is written.
    package static func output(_ placeholder: String, orStandardOutput: Bool = false) -> ValueFormat {
        ValueFormat(shape: .output(placeholder, orStandardOutput: orStandardOutput)) { $0 }
    }
}

extension ValueFormat where Value: RawRepresentable, Value.RawValue == String {
    package static func choice(_ placeholder: String, _ values: some Sequence<Value>) -> ValueFormat {
        let values = Array(values)
        let words = values.map(\.rawValue)
        return ValueFormat(shape: .choice(placeholder, words), range: words.joined(separator: ", ")) { text in
            values.first { $0.rawValue == text }
        }
    }
}

extension ValueFormat<Int> {
    package static func number(_ placeholder: String, in range: ClosedRange<Int>) -> ValueFormat {
        let end = range.upperBound == .max ? " or more" : " to \(range.upperBound)"
        return ValueFormat(shape: .text(placeholder), range: "\(range.lowerBound)\(end)") { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueFormat<Int64> {
    /// The value is in milliseconds, because `Duration` needs macOS 13.
    package static func seconds(_ placeholder: String, atMost limit: Int) -> ValueFormat {
        ValueFormat(shape: .text(placeholder), range: "more than 0, at most \(limit)") { text in
            guard let seconds = Double(text), seconds > 0, seconds <= Double(limit) else { return nil }
            return Int64((seconds * 1_000).rounded(.up))
        }
    }
}

extension ValueFormat<Date> {
    /// A time, or a day, which stands for its first second in UTC.
    package static func instant(_ placeholder: String) -> ValueFormat {
        .reading(placeholder) { text throws(ToolError) in
            do throws(RFC3339.ParsingError) {
                return try RFC3339.date(from: text.utf8.count == 10 ? text + "T00:00:00Z" : text)
            } catch {
                throw .unusable(
                    "invalid-date", "\"\(text)\" is \(error.message)",
                    hint: [.missingZone, .leapSecond].contains(error)
                        ? error.hint
                        : "write it like 2027-11-20, which is its first second in UTC, or like 2027-11-20T12:00:00Z")
            }
        }
    }
}
