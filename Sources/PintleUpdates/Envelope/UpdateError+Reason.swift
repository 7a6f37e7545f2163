package import Pintle
internal import PintlePolicyFile

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension UpdateError {
    /// The first check that failed, with the values that its message names.
    package enum Reason: Error, Sendable, Hashable {
        case tooLarge(maximum: Int)
        case malformedEnvelope(MalformedDocument)
        case invalidSignature
        case thresholdNotMet(valid: Int, needed: Int)
        case unknownPayloadType(String)
        case malformedPayload(MalformedDocument)
        /// `version` is `nil` if it is higher than the highest possible one.
        case rollback(version: Int?, floor: Int)
        case replacedVersion(Int)
        case notYetIssued(Date)
        case expired(Date)
        /// 1 to 1,000 violations.
        case outOfScope([ScopeViolation])
        case invalidPolicy([PolicyProblem])
    }
}

extension UpdateError.Reason {
    package var code: UpdateError.Code {
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
    package var description: String {
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
package struct ScopeViolation: Sendable, Hashable {
    /// The place in the update's policy: `hosts[1].anchors`.
    package let path: String
    /// One line, lower case, no full stop.
    package let message: String
    /// The change of the update's policy that ends the violation: one line, lower case, no full stop.
    package let help: String
}

extension ScopeViolation: CustomStringConvertible {
    /// `hosts[1].anchors: example.com would trust roots that the bundled rule does not`
    package var description: String { "\(path): \(message)" }
}
