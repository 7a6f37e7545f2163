public import Pintle
internal import PintlePolicyFile

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The reason why an update was not adopted, and the facts that were known by then.
///
/// The policy in force and the stored update stay as they are. The next valid update can be adopted.
public struct UpdateError: Error, Sendable, Hashable {
    /// The first check that failed.
    public let reason: Reason
    /// The version in the update; `nil` unless enough keys have signed it.
    public let version: Int?
    /// The trusted keys that signed the update.
    public let signers: [UpdateKey]

    package init(_ reason: Reason, version: Int? = nil, signers: [UpdateKey] = []) {
        self.reason = reason
        self.version = version
        self.signers = signers
    }
}

extension UpdateError: CustomStringConvertible {
    /// `rollback: version 5 is older than 7`
    public var description: String { "\(reason.code): \(reason)" }
}

extension UpdateError: LocalizedError, DescribedError {}

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

    init(_ message: String, at place: TextPlace) {
        self.message = message
        line = place.line
        column = place.column
    }
}

extension MalformedDocument: CustomStringConvertible {
    /// `3:14: "version" is not an integer, written in digits`
    public var description: String { "\(line):\(column): \(message)" }
}
