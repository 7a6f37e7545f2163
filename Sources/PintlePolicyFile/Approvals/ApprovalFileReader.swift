public import Pintle

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A parser of approvals files that stops at the first mistake. A program wrote the file, so one mistake means damage,
/// and no part of such a file is used.
enum ApprovalFileReader {
    private enum FileKey: String, CaseIterable {
        case version, generation, approvals
    }

    private enum ApprovalKey: String, CaseIterable {
        case host, port, certificate, spki, accepts, approvedAt, expiresAt, note, revokedAt
    }

    static func read(_ root: JSONValue) throws(ApprovalFileError) -> TrustApprovals {
        // Check the version first: in a file of another version, keys that look unknown may be valid.
        let version = try integer(root["version"], of: root, FileKey.version)
        guard version == TrustApprovals.formatVersion else {
            throw ApprovalFileError(
                ApprovalFileError.unsupportedVersion, at: root, "version \(version) of the format is unknown")
        }
        let members = try members(of: root, FileKey.self)
        guard let revision = UInt64(exactly: try integer(members[.generation], of: root, FileKey.generation)) else {
            throw ApprovalFileError("invalid-generation", at: root, "a generation below 0")
        }
        let list = try required(members[.approvals], of: root, FileKey.approvals)
        guard let elements = list.elements else { throw wrongType(list, "a list") }
        var approvals: [TrustApproval] = []
        approvals.reserveCapacity(list.count)
        var known: Set<ServerEndpoint> = []
        for element in elements {
            let approval = try approval(element)
            guard known.insert(approval.endpoint).inserted else {
                throw ApprovalFileError("duplicate-approval", at: element, "a second one for \(approval.endpoint)")
            }
            approvals.append(approval)
        }
        return TrustApprovals(approvals, revision: revision)
    }

    private static func approval(_ value: JSONValue) throws(ApprovalFileError) -> TrustApproval {
        let members = try members(of: value, ApprovalKey.self)
        func member(_ key: ApprovalKey) throws(ApprovalFileError) -> JSONValue {
            try required(members[key], of: value, key)
        }
        let note = try members[.note].map(string)
        if let note, note.utf8.count > TrustApproval.maximumNoteSize {
            throw ApprovalFileError("note-too-long", at: value, "a note of \(note.utf8.count) bytes")
        }
        let subject = try subject(members[.certificate], members[.spki], of: value)
        let accepts = try failures(try member(.accepts))
        guard accepts.isSubset(of: subject.acceptable) else {
            throw ApprovalFileError(
                "unacceptable-failure", at: value, "a failure that only an approval of a certificate can accept")
        }
        return TrustApproval(
            unchecked: subject,
            for: ServerEndpoint(host: try host(try member(.host)), port: try port(try member(.port))),
            accepting: accepts, at: try date(try member(.approvedAt)),
            until: try members[.expiresAt].map(date), note: note, revokedAt: try members[.revokedAt].map(date))
    }

    // MARK: Values

    private static func subject(
        _ certificate: JSONValue?, _ key: JSONValue?, of value: JSONValue
    ) throws(ApprovalFileError) -> Pin.Subject {
        do throws(PinError) {
            switch (certificate?.string, key?.string) {
            case (let text?, nil) where key == nil: return .certificate(try CertificatePin(text))
            case (nil, let text?) where certificate == nil: return .publicKey(try PublicKeyPin(text))
            default: break
            }
        } catch {
            throw ApprovalFileError(error.code, at: certificate ?? key ?? value, JSONWriter.quoted(error.text))
        }
        throw ApprovalFileError("invalid-pin", at: value, "an approval has \"certificate\" or \"spki\", as a string")
    }

    private static func host(_ value: JSONValue) throws(ApprovalFileError) -> ServerName {
        let text = try string(value)
        do {
            return try ServerName(text)
        } catch {
            throw ApprovalFileError("invalid-host", at: value, "no host: \(JSONWriter.quoted(error.text))")
        }
    }

    private static func port(_ value: JSONValue) throws(ApprovalFileError) -> UInt16 {
        guard let port = value.integer.flatMap({ UInt16(exactly: $0) }), port > 0 else {
            throw ApprovalFileError("invalid-port", at: value, "no number from 1 to 65535")
        }
        return port
    }

    private static func failures(_ value: JSONValue) throws(ApprovalFileError) -> Set<TrustApproval.AcceptedFailure> {
        guard let elements = value.elements else { throw wrongType(value, "a list") }
        var failures: Set<TrustApproval.AcceptedFailure> = []
        for element in elements {
            guard let failure = TrustApproval.AcceptedFailure(rawValue: try string(element)) else {
                throw ApprovalFileError("unacceptable-failure", at: element, "nothing that a person can accept")
            }
            failures.insert(failure)
        }
        return failures
    }

    private static func date(_ value: JSONValue) throws(ApprovalFileError) -> Date {
        let text = try string(value)
        do {
            return try RFC3339.date(from: text).wholeSeconds
        } catch {
            throw ApprovalFileError("invalid-date", at: value, error.message)
        }
    }

    private static func string(_ value: JSONValue) throws(ApprovalFileError) -> String {
        guard let string = value.string else { throw wrongType(value, "a string") }
        return string
    }

    private static func integer<Key: RawRepresentable<String>>(
        _ value: JSONValue?, of object: JSONValue, _ key: Key
    ) throws(ApprovalFileError) -> Int64 {
        let value = try required(value, of: object, key)
        guard let integer = value.integer else { throw wrongType(value, "an integer") }
        return integer
    }

    // MARK: Objects

    private static func members<Key: RawRepresentable<String> & CaseIterable & Hashable>(
        of value: JSONValue, _ keys: Key.Type
    ) throws(ApprovalFileError) -> [Key: JSONValue] {
        let members = try value.members(as: keys) { member throws(ApprovalFileError) in
            throw ApprovalFileError("unknown-key", at: member.key, "a key that this version does not have")
        }
        guard let members else { throw wrongType(value, "an object") }
        return members
    }

    private static func required<Key: RawRepresentable<String>>(
        _ value: JSONValue?, of object: JSONValue, _ key: Key
    ) throws(ApprovalFileError) -> JSONValue {
        guard let value else { throw ApprovalFileError("missing-key", at: object, "no \"\(key.rawValue)\"") }
        return value
    }

    private static func wrongType(_ value: JSONValue, _ wanted: String) -> ApprovalFileError {
        ApprovalFileError("wrong-type", at: value, "\(value.kind.description), not \(wanted)")
    }
}

/// The reason why bytes are not a valid approvals file: the first mistake and its position.
public struct ApprovalFileError: Error, Sendable, Hashable {
    /// A stable code for machines, such as `unsupported-version`, `unknown-key` or `trailing-content`.
    public let id: String
    /// The line of the mistake, counted from 1.
    public let line: Int
    /// The column of the mistake, counted from 1 in Unicode scalars.
    public let column: Int
    /// The reason for people, in lower case and without a full stop. Text quoted from the file is escaped and
    /// shortened.
    public let message: String

    /// A Boolean value that indicates whether a later version of Pintle wrote the file. Such a file may be intact, but
    /// this version cannot read it.
    package var isUnsupportedVersion: Bool { id == Self.unsupportedVersion }

    static let unsupportedVersion = "unsupported-version"

    init(_ error: JSONError) {
        id = error.code.rawValue
        (line, column) = (error.line, error.column)
        message = error.message
    }

    init(_ id: String, at value: JSONValue, _ message: String) {
        self.id = id
        let place = value.place
        (line, column) = (place.line, place.column)
        self.message = message
    }
}

extension ApprovalFileError: CustomStringConvertible {
    /// The line, column, id and message on one line.
    public var description: String { "\(line):\(column): \(id): \(message)" }
}

extension ApprovalFileError: LocalizedError, DescribedError {}
