public import Pintle

/// An event that an app may want to hear of: a verdict that is not plain trust, or trouble with updates of the policy or
/// with a session.
public enum TrustFailureEvent: Sendable {
    /// A server was refused, or let in although no pin matched or the pins were past their date.
    case verdict(TrustFailure)
    /// An update of the policy is late, or was not taken.
    case update(UpdateTrouble)
    /// A session was made from a configuration that would have weakened its pins.
    case session(SessionTrouble)

    /// How much it matters, in the words that loggers have.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// In ascending order.
        case notice, warning, error
    }

    /// The level at which a log shows the event.
    public var level: Level {
        switch self {
        case .verdict(let failure): failure.decision.isTrusted ? .warning : .error
        case .update(let trouble):
            switch trouble.kind {
            // A device is offline now and then, or has not been unlocked yet.
            case .notFetched, .floorUnreadable: .notice
            case .stale: .warning
            case .rejected, .lostStore, .notStored: .error
            }
        case .session(let trouble): trouble.isResolved ? .warning : .error
        }
    }
}

extension TrustFailureEvent: CustomStringConvertible {
    /// One line; what comes from a server is escaped.
    public var description: String {
        switch self {
        case .verdict(let failure): failure.description
        case .update(let trouble): trouble.description
        case .session(let trouble): trouble.description
        }
    }
}

/// What went wrong with signed updates of the policy. `PintleURLSession` makes it of the events of a `PolicyStore`.
public struct UpdateTrouble: Sendable, Hashable {
    /// The kinds of trouble. The raw values are stable.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The update in force has passed its date, and none has come after it.
        case stale
        /// What a server sent was not taken.
        case rejected
        /// A server could not be asked.
        case notFetched = "not-fetched"
        /// An update that was in force is gone from the disk.
        case lostStore = "lost-store"
        /// The disk did not take an update.
        case notStored = "not-stored"
        /// Where the floor is kept cannot be read: no update is taken until it can.
        case floorUnreadable = "floor-unreadable"
    }

    /// The stable code of the trouble: `stale`, `rejected`, `not-fetched`, `lost-store`, `not-stored` or `floor-unreadable`.
    public var code: String { kind.rawValue }
    package let kind: Code
    /// Why an update was rejected: the code of the failure, such as `rollback`.
    public let reason: String?
    /// The version that it is about, where one is known.
    public let version: Int?
    /// The URL that was asked, where one was.
    public let source: String?
    /// What happened, in words; escaped.
    public let text: String

    /// Trouble of this kind, for an observer.
    package init(_ kind: Code, reason: String? = nil, version: Int? = nil, source: String? = nil, text: String) {
        self.kind = kind
        self.reason = reason
        self.version = version
        self.source = source
        self.text = text
    }
}

extension UpdateTrouble: CustomStringConvertible {
    /// The trouble, for people, in one line.
    public var description: String {
        let place = source.map { " from \($0)" } ?? ""
        return "policy update\(version.map { " \($0)" } ?? "")\(place) \(code): \(text)"
    }
}
