package import Pintle
package import PintlePolicyFile

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The payload of an update, read from the signed bytes: its version, its dates and its policy. The policy is parsed
/// lazily.
package struct UpdatePayload: Sendable {
    /// The highest version. JSON parsers that use floating point cannot represent higher integers exactly. On watches
    /// whose `Int` has 32 bits the limit is 2^31 - 1.
    package static let maximumVersion = Int(PinningPolicy.updateVersions.upperBound)

    package enum Version: Sendable, Hashable {
        case number(Int)
        /// An integer above ``UpdatePayload/maximumVersion``.
        case beyond
    }

    package let version: Version
    package let issuedAt: Date
    package let expiresAt: Date
    /// The policy, an object that is not parsed yet.
    package let policy: JSONValue
    /// Members that this release does not know, up to a limit of number and length. They are no error, so that old apps
    /// can adopt updates in a newer format.
    package let ignoredMembers: [String]

    package init(_ bytes: [UInt8]) throws(UpdateError.Reason) {
        let document: JSONDocument
        do {
            // In a payload the policy lies two levels deeper than in a policy file.
            document = try JSONDocument(
                bytes,
                limits: .init(maximumBytes: SignedEnvelope.maximumBytes, maximumDepth: 18, allowsAnyNumber: true))
        } catch {
            throw .malformedPayload(MalformedDocument(error))
        }
        let root = document.root
        guard let members = root.members else {
            throw Self.malformed(root, "the payload is \(root.kind), not an object")
        }
        version = try Self.version(of: root)
        issuedAt = try Self.date("issuedAt", of: root)
        expiresAt = try Self.date("expiresAt", of: root)
        guard let policy = root["policy"] else { throw Self.malformed(root, "the payload has no \"policy\"") }
        guard policy.kind == .object else { throw Self.malformed(policy, "\"policy\" is not an object") }
        self.policy = policy
        ignoredMembers = members.lazy.filter { !Self.isKnown($0.key) }.prefix(16).map {
            String(decoding: ($0.key.stringBytes ?? []).prefix(64), as: UTF8.self)
        }
    }

    /// Returns the bytes of a new payload. The caller has already checked the policy.
    package static func json(version: Int, issuedAt: Date, expiresAt: Date, policy: PinningPolicy) -> [UInt8] {
        var json = JSONWriter(.pretty)
        json.object {
            $0.member("version", version)
            $0.member("issuedAt", RFC3339.string(from: issuedAt))
            $0.member("expiresAt", RFC3339.string(from: expiresAt))
            $0.key("policy")
            policy.write(to: &$0)
        }
        return json.bytes + [UInt8(ascii: "\n")]
    }

    private static func isKnown(_ key: JSONValue) -> Bool {
        key.equals("version") || key.equals("issuedAt") || key.equals("expiresAt") || key.equals("policy")
    }

    private static func malformed(_ value: JSONValue, _ message: String) -> UpdateError.Reason {
        .malformedPayload(MalformedDocument(message, at: value.place))
    }

    private static func version(of root: JSONValue) throws(UpdateError.Reason) -> Version {
        guard let value = root["version"] else { throw malformed(root, "the payload has no \"version\"") }
        if let number = value.integer {
            return number > Int64(maximumVersion) ? .beyond : .number(Int(truncatingIfNeeded: number))
        }
        let isInteger = value.kind == .number && value.source.allSatisfy { 0x30...0x39 ~= $0 }
        guard isInteger else { throw malformed(value, "\"version\" is not an integer, written in digits") }
        return .beyond
    }

    private static func date(_ key: StaticString, of root: JSONValue) throws(UpdateError.Reason) -> Date {
        guard let value = root[key] else { throw malformed(root, "the payload has no \"\(key)\"") }
        guard let text = value.string else { throw malformed(value, "\"\(key)\" is not a string") }
        do {
            return try RFC3339.date(from: text)
        } catch {
            throw malformed(value, "\"\(key)\" is \(error.message); \(error.hint)")
        }
    }
}
