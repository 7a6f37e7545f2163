internal import Pintle
public import PintleStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An event of a store, for logs and reports.
public enum PolicyStoreEvent: Sendable {
    /// An update was stored and is now in force.
    case adopted(VerifiedUpdate)
    /// The update in force has passed its `expiresAt`. It stays in force, and the store asks for updates more often. An
    /// attacker may be blocking newer updates.
    case stale(version: Int, since: Date)
    /// An update from an earlier run of the process is lost. The bundled policy is in force, and the store adopts
    /// nothing below the floor. The event is sent when the store is opened, or once the floor can be read.
    case lostStore(LostUpdate)
    /// A server sent an update that failed a check. The policy in force does not change.
    case rejected(UpdateError, from: String)
    /// A request to a server failed.
    case notFetched(from: String, description: String)
    /// The update or its floor could not be written to the disk or to the storage outside of it. The update is not in
    /// force, unless it was found on the disk when the store was opened.
    case notStored(StorageError)
    /// The storage of the floor cannot be read at this moment. The store adopts no update until it can; the policy in
    /// force does not change.
    case floorUnreadable(StorageError)
}

extension PolicyStoreEvent: CustomStringConvertible {
    /// One line, even if a server's text contains line breaks; lower case, no full stop.
    public var description: String {
        switch self {
        case .adopted(let update):
            "update \(update.version) is in force; it may be adopted until \(RFC3339.string(from: update.expiresAt))"
        case .stale(let version, let date):
            "update \(version) expired \(RFC3339.string(from: date)) and stays in force; no newer one has been adopted"
        case .lostStore(let loss):
            Self.oneLine("\(PolicyStoreError.lostStore(loss))") + "; the bundled policy is in force"
        case .rejected(let error, let url):
            Self.oneLine("the update from \(url) was not taken: \(error)")
        case .notFetched(let url, let text): Self.oneLine("no update could be fetched from \(url): \(text)")
        case .notStored(let error): Self.oneLine("\(PolicyStoreError.notStored(error))")
        case .floorUnreadable(let error):
            Self.oneLine("\(PolicyStoreError.floorUnreadable(error))") + "; no update is taken until it can"
        }
    }

    /// Escapes control and format characters, as JSON does. Quotes and backslashes stay as they are.
    private static func oneLine(_ text: String) -> String {
        var line = ""
        for scalar in text.unicodeScalars.prefix(1_000) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                switch scalar {
                case "\n": line += "\\n"
                case "\r": line += "\\r"
                case "\t": line += "\\t"
                default: line += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
                }
            default: line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}

/// The loss of a stored update: its version and the reason.
public struct LostUpdate: Sendable, Hashable {
    package enum Cause: Sendable, Hashable {
        /// Its file is gone.
        case missing
        /// Its file cannot be read.
        case unreadable(StorageError)
        /// It no longer passes the checks.
        case rejected(UpdateError)
    }

    /// The version that was in force; `nil` if the floor does not say.
    public let version: Int?
    package let cause: Cause
    /// The reason for the loss, on one line, in lower case and without a full stop.
    public var reason: String { cause.description }
}

extension LostUpdate.Cause: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing: "its file is gone"
        case .unreadable(let error): "\(error)"
        case .rejected(let error): "\(error)"
        }
    }
}
