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
    /// The checks, in their order. The raw values are stable.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The envelope is larger than 16 MiB.
        case tooLarge = "too-large"
        /// The bytes are not a DSSE envelope.
        case malformedEnvelope = "malformed-envelope"
        /// No signature is a trusted key's signature over this payload.
        case invalidSignature = "invalid-signature"
        /// Fewer distinct keys have signed than the threshold requires.
        case thresholdNotMet = "threshold-not-met"
        /// The signatures are valid, but the payload is not a policy in this format.
        case unknownPayloadType = "unknown-payload-type"
        /// The signatures are valid, but the payload cannot be parsed.
        case malformedPayload = "malformed-payload"
        /// The version is older than the floor, or higher than the highest possible version.
        case rollback
        /// The version was already used for another payload.
        case replacedVersion = "replaced-version"
        /// `issuedAt` lies in the future.
        case notYetIssued = "not-yet-issued"
        /// `expiresAt` has passed.
        case expired
        /// The update exceeds what the bundled policy allows.
        case outOfScope = "out-of-scope"
        /// The policy in the update is not valid.
        case invalidPolicy = "invalid-policy"
    }

    /// The first check that failed.
    public var code: Code { reason.code }
    package let reason: Reason
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
    /// The code and the reason, on one line: `rollback: version 5 is older than 7`.
    public var description: String { "\(code.rawValue): \(reason)" }
}

extension UpdateError: LocalizedError, DescribedError {}

/// A parse error: the message and its place in the document.
package struct MalformedDocument: Sendable, Hashable {
    /// One line, lower case, no full stop.
    package let message: String
    /// The line, 1-based.
    package let line: Int
    /// The column, 1-based, in Unicode scalars from the start of the line.
    package let column: Int

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
    package var description: String { "\(line):\(column): \(message)" }
}
