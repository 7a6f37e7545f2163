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

    private enum Key: String, CaseIterable {
        case version, issuedAt, expiresAt, policy
    }

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
            // A policy file has 16 levels. In a payload it lies one level deeper; the other is for later formats.
            document = try JSONDocument(
                bytes,
                limits: .init(maximumBytes: SignedEnvelope.maximumBytes, maximumDepth: 18, allowsAnyNumber: true))
        } catch {
            throw .malformedPayload(MalformedDocument(error))
        }
        let root = document.root
        var ignored: [String] = []
        let members = root.members(as: Key.self) { member in
            guard ignored.count < 16 else { return }
            ignored.append(String(decoding: (member.key.stringBytes ?? []).prefix(64), as: UTF8.self))
        }
        guard let members else { throw Self.malformed(root, "the payload is \(root.kind), not an object") }
        func required(_ key: Key) throws(UpdateError.Reason) -> JSONValue {
            guard let value = members[key] else {
                throw Self.malformed(root, "the payload has no \"\(key.rawValue)\"")
            }
            return value
        }
        version = try Self.version(try required(.version))
        issuedAt = try Self.date(try required(.issuedAt), .issuedAt)
        expiresAt = try Self.date(try required(.expiresAt), .expiresAt)
        policy = try required(.policy)
        guard policy.kind == .object else { throw Self.malformed(policy, "\"policy\" is not an object") }
        ignoredMembers = ignored
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

    private static func malformed(_ value: JSONValue, _ message: String) -> UpdateError.Reason {
        .malformedPayload(MalformedDocument(message, at: value.place))
    }

    private static func version(_ value: JSONValue) throws(UpdateError.Reason) -> Version {
        if let number = value.integer {
            return number > Int64(maximumVersion) ? .beyond : .number(Int(truncatingIfNeeded: number))
        }
        let isInteger = value.kind == .number && value.source.allSatisfy { 0x30...0x39 ~= $0 }
        guard isInteger else { throw malformed(value, "\"version\" is not an integer, written in digits") }
        return .beyond
    }

    private static func date(_ value: JSONValue, _ key: Key) throws(UpdateError.Reason) -> Date {
        guard let text = value.string else { throw malformed(value, "\"\(key.rawValue)\" is not a string") }
        do {
            return try RFC3339.date(from: text)
        } catch {
            throw malformed(value, "\"\(key.rawValue)\" is \(error.message); \(error.hint)")
        }
    }
}
