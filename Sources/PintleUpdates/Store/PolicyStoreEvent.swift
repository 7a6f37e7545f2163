internal import Pintle
public import PintleStorage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a store has met with, for logs and reports.
public enum PolicyStoreEvent: Sendable {
    /// An update is in force, and stored.
    case adopted(VerifiedUpdate)
    /// The update in force has passed its `expiresAt`. It stays in force, and the store asks for the next one more
    /// often; somebody may be holding updates back.
    case stale(version: Int, since: Date)
    /// An update that was in force before this process began is not any more: the bundled policy is, and nothing below
    /// the floor will be taken. Told when the store is opened; where the floor could not be read then, once it can be.
    case lostStore(PolicyStoreLoss)
    /// What a server sent was not taken. What is in force stays.
    case rejected(UpdateRejection, from: String)
    /// A server could not be asked.
    case notFetched(from: String, description: String)
    /// The disk, or where the floor is kept, did not take an update or its floor. The update is not in force either,
    /// unless it was found when the store was opened.
    case notStored(StorageError)
    /// Where the floor is kept cannot be read at this moment: no update is taken until it can. What is in force stays.
    case floorUnreadable(StorageError)
}

extension PolicyStoreEvent: CustomStringConvertible {
    /// One line, whatever a server has put into it; lower case, no full stop.
    public var description: String {
        switch self {
        case .adopted(let update):
            "update \(update.version) is in force; it may be adopted until \(RFC3339.string(from: update.expiresAt))"
        case .stale(let version, let date):
            "update \(version) expired \(RFC3339.string(from: date)) and stays in force; no newer one has been adopted"
        case .lostStore(let loss):
            Self.oneLine("\(PolicyStoreError.lostStore(loss))") + "; the bundled policy is in force"
        case .rejected(let rejection, let url):
            Self.oneLine("the update from \(url) was not taken: \(rejection)")
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
