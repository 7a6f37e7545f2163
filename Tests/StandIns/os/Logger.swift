internal import Foundation

public struct OSLogPrivacy: Sendable, Equatable {
    public enum Mask: Sendable, Equatable {
        case hash, none
    }

    let isPublic: Bool

    public static var `public`: OSLogPrivacy { OSLogPrivacy(isPublic: true) }
    public static var `private`: OSLogPrivacy { OSLogPrivacy(isPublic: false) }
    public static func `private`(mask: Mask) -> OSLogPrivacy { OSLogPrivacy(isPublic: false) }
}

/// The text of a log entry. Private values are replaced.
public struct OSLogMessage: ExpressibleByStringInterpolation, Sendable {
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) {}

        public mutating func appendLiteral(_ literal: String) { text += literal }

        public mutating func appendInterpolation(
            _ argument: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .private
        ) {
            text += privacy.isPublic ? argument() : "<private>"
        }
    }

    let text: String

    public init(stringLiteral value: String) { text = value }
    public init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }
}

public struct Logger: Sendable {
    private let category: String

    public init(subsystem: String, category: String) {
        self.category = category
    }

    public func error(_ message: OSLogMessage) { Self.keep("error \(message.text)", category) }
    public func notice(_ message: OSLogMessage) { Self.keep("notice \(message.text)", category) }
    public func warning(_ message: OSLogMessage) { Self.keep("warning \(message.text)", category) }
    public func info(_ message: OSLogMessage) { Self.keep("info \(message.text)", category) }
    public func debug(_ message: OSLogMessage) { Self.keep("debug \(message.text)", category) }

    private static let lock = NSLock()
    // `nonisolated(unsafe)`: every access takes the lock.
    private nonisolated(unsafe) static var lines: [String: [String]] = [:]

    private static func keep(_ line: String, _ category: String) {
        lock.lock()
        defer { lock.unlock() }
        lines[category, default: []].append(line)
    }

    /// Returns the entries of a category. Apple's log cannot be read back like this.
    public static func written(under category: String) -> [String] {
        lock.lock()
        defer { lock.unlock() }
        return lines[category] ?? []
    }
}
