public import Pintle
internal import PintlePolicyFile

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension UpdateError {
    /// The first check that failed, in the order of the cases.
    public enum Reason: Error, Sendable, Hashable {
        /// The envelope is larger than 16 MiB.
        case tooLarge(maximum: Int)
        /// The bytes are not a DSSE envelope.
        case malformedEnvelope(MalformedDocument)
        /// No signature is a trusted key's signature over this payload.
        case invalidSignature
        /// Fewer distinct keys have signed than the threshold requires.
        case thresholdNotMet(valid: Int, needed: Int)
        /// The signatures are valid, but the payload is not a policy in this format.
        case unknownPayloadType(String)
        /// The signatures are valid, but the payload cannot be parsed.
        case malformedPayload(MalformedDocument)
        /// The version is older than the floor, or higher than the highest possible version (`version` is then `nil`).
        case rollback(version: Int?, floor: Int)
        /// The version was already used for another payload.
        case replacedVersion(Int)
        /// `issuedAt` lies in the future.
        case notYetIssued(Date)
        /// `expiresAt` has passed.
        case expired(Date)
        /// The update exceeds what the bundled policy allows; 1 to 1,000 problems.
        case outOfScope([ScopeProblem])
        /// The policy in the update is not valid.
        case invalidPolicy([PolicyProblem])
    }
}

extension UpdateError.Reason {
    /// An identifier that stays stable across releases, for programs.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// ``UpdateError/Reason/tooLarge(maximum:)``
        case tooLarge = "too-large"
        /// ``UpdateError/Reason/malformedEnvelope(_:)``
        case malformedEnvelope = "malformed-envelope"
        /// ``UpdateError/Reason/invalidSignature``
        case invalidSignature = "invalid-signature"
        /// ``UpdateError/Reason/thresholdNotMet(valid:needed:)``
        case thresholdNotMet = "threshold-not-met"
        /// ``UpdateError/Reason/unknownPayloadType(_:)``
        case unknownPayloadType = "unknown-payload-type"
        /// ``UpdateError/Reason/malformedPayload(_:)``
        case malformedPayload = "malformed-payload"
        /// ``UpdateError/Reason/rollback(version:floor:)``
        case rollback
        /// ``UpdateError/Reason/replacedVersion(_:)``
        case replacedVersion = "replaced-version"
        /// ``UpdateError/Reason/notYetIssued(_:)``
        case notYetIssued = "not-yet-issued"
        /// ``UpdateError/Reason/expired(_:)``
        case expired
        /// ``UpdateError/Reason/outOfScope(_:)``
        case outOfScope = "out-of-scope"
        /// ``UpdateError/Reason/invalidPolicy(_:)``
        case invalidPolicy = "invalid-policy"
    }

    /// The stable code of the reason, such as `rollback`. The article about signed updates lists all.
    public var code: String { kind.rawValue }

    /// The reason without its details.
    package var kind: Code {
        switch self {
        case .tooLarge: .tooLarge
        case .malformedEnvelope: .malformedEnvelope
        case .invalidSignature: .invalidSignature
        case .thresholdNotMet: .thresholdNotMet
        case .unknownPayloadType: .unknownPayloadType
        case .malformedPayload: .malformedPayload
        case .rollback: .rollback
        case .replacedVersion: .replacedVersion
        case .notYetIssued: .notYetIssued
        case .expired: .expired
        case .outOfScope: .outOfScope
        case .invalidPolicy: .invalidPolicy
        }
    }
}

extension UpdateError.Reason: CustomStringConvertible {
    /// One line, lower case, no full stop.
    public var description: String {
        switch self {
        case .tooLarge(let maximum): "larger than \(maximum >> 20) MiB"
        case .malformedEnvelope(let problem): "not an envelope: \(problem)"
        case .invalidSignature: "no signature is by a trusted key over this payload"
        case .thresholdNotMet(let valid, let needed): "signed by \(valid) of \(needed) keys that are needed"
        case .unknownPayloadType(let type): "the payload type \(JSONWriter.quoted(String(type.prefix(80)))) is unknown"
        case .malformedPayload(let problem): "not a payload: \(problem)"
        case .rollback(let version?, let floor): "version \(version) is older than \(floor)"
        case .rollback(nil, _): "the version is beyond the highest there is, \(UpdatePayload.maximumVersion)"
        case .replacedVersion(let version): "version \(version) is known with another content"
        case .notYetIssued(let date): "issued \(RFC3339.string(from: date)), which lies ahead"
        case .expired(let date): "expired \(RFC3339.string(from: date))"
        case .outOfScope(let problems):
            Self.first(problems.map { "\($0)" }, or: "beyond what the bundled policy allows")
        case .invalidPolicy(let problems):
            "the policy in it cannot be used: " + Self.first(problems.map { "\($0)" }, or: "no reason")
        }
    }

    private static func first(_ texts: [String], or other: String) -> String {
        (texts.first ?? other) + (texts.count > 1 ? ", and \(texts.count - 1) more" : "")
    }
}

/// A change in an update that the bundled policy does not allow.
public struct ScopeProblem: Sendable, Hashable {
    /// The place in the update's policy: `hosts[1].anchors`.
    public let path: String
    /// One line, lower case, no full stop.
    public let message: String
}

extension ScopeProblem: CustomStringConvertible {
    /// `hosts[1].anchors: example.com would trust roots that the bundled rule does not`
    public var description: String { "\(path): \(message)" }
}

extension UpdateError.Reason: LocalizedError, DescribedError {}
