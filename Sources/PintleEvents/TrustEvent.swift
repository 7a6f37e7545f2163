public import Pintle

/// An event that an app may log or report: a verdict that is not plain trust, or what happened to a policy update or
/// a session.
public enum TrustEvent: Sendable {
    /// A server was refused, or was accepted although no pin matched or the pins had expired.
    case verdict(VerdictEvent)
    /// A policy update is late, or was not adopted.
    case update(UpdateEvent)
    /// The configuration of a new session would have weakened its pins.
    case session(SessionEvent)

    /// The severity, in the terms of loggers.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        // In ascending order.
        /// An expected event, such as a device without a network.
        case notice
        /// An event that needs attention, although the server was trusted.
        case warning
        /// A refusal, or a problem that keeps the policy from being updated.
        case error
    }

    /// The level at which a log shows the event.
    public var level: Level {
        switch self {
        case .verdict(let event): event.decision.isTrusted ? .warning : .error
        case .update(let event):
            switch event.kind {
            // Expected at times: a device is offline, or has not been unlocked yet.
            case .notFetched, .floorUnreadable: .notice
            case .stale: .warning
            case .rejected, .lostStore, .notStored: .error
            }
        case .session(let event): event.isResolved ? .warning : .error
        }
    }
}

extension TrustEvent: CustomStringConvertible {
    /// One line, with text from servers escaped.
    public var description: String {
        switch self {
        case .verdict(let event): event.description
        case .update(let event): event.description
        case .session(let event): event.description
        }
    }
}

/// An event of signed policy updates that is not an adoption. `PintleRemote` creates it from the events of a
/// `PolicyStore`.
public struct UpdateEvent: Sendable, Hashable {
    /// The kind of event; stable.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The update in force has expired, and no newer one has been adopted.
        case stale
        /// An update from a server failed a check.
        case rejected
        /// A request to a server failed.
        case notFetched = "not-fetched"
        /// The update that was in force is gone from the disk.
        case lostStore = "lost-store"
        /// An update could not be written to the disk.
        case notStored = "not-stored"
        /// The storage of the floor cannot be read. Until it can, no update is adopted.
        case floorUnreadable = "floor-unreadable"
    }

    /// The stable code of the event: `stale`, `rejected`, `not-fetched`, `lost-store`, `not-stored` or
    /// `floor-unreadable`.
    public var code: String { kind.rawValue }
    package let kind: Code
    /// The code of the reason why an update was rejected, such as `rollback`; `nil` for other events.
    public let reason: String?
    /// The version of the update, if known.
    public let version: Int?
    /// The URL of the server, if one was asked.
    public let source: String?
    /// A description for people, escaped.
    public let text: String

    /// Creates an event of this kind, for an observer.
    package init(_ kind: Code, reason: String? = nil, version: Int? = nil, source: String? = nil, text: String) {
        self.kind = kind
        self.reason = reason
        self.version = version
        self.source = source
        self.text = text
    }
}

extension UpdateEvent: CustomStringConvertible {
    /// The event in one line, for people.
    public var description: String {
        let place = source.map { " from \($0)" } ?? ""
        return "policy update\(version.map { " \($0)" } ?? "")\(place) \(code): \(text)"
    }
}

/// A problem that weakens a session's pins, or would have, or makes it refuse more than others do. `PintleURLSession`
/// finds it.
public struct SessionEvent: Sendable, Hashable {
    /// The kind of event; stable.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The configuration has a `URLProtocol` that belongs neither to the system nor to this package. Debugging
        /// tools add such a class to every configuration, and it sends requests past the pins.
        case foreignProtocol = "foreign-protocol"
        /// On Linux, libpsl has no public suffix list. Wildcards directly above fewer than three labels are refused, as
        /// are cookies for a domain, and in policy files anchors for the sub-domains of such names.
        case missingSuffixList = "missing-suffix-list"
        /// On Linux, a server got a client certificate that has expired or is not valid yet.
        case clientCertificateDates = "client-certificate-dates"
        /// On Linux, `NO_PROXY` has entries that cannot be parsed. They are skipped, so the proxy sees requests to
        /// their hosts.
        case unreadableNoProxy = "unreadable-no-proxy"
        /// On Apple's systems, a guarded task was refused, because no policy is known for its session.
        case noPolicy = "no-policy"
    }

    /// The stable code of the event:
    ///
    /// - `foreign-protocol`, for a `URLProtocol` in the configuration that belongs neither to the system nor to this
    ///   package;
    /// - `missing-suffix-list`, if libpsl on Linux has no public suffix list;
    /// - `client-certificate-dates`, if a server got a client certificate outside its dates;
    /// - `unreadable-no-proxy`, if `NO_PROXY` on Linux has entries that cannot be parsed;
    /// - `no-policy`, if a guarded task on Apple's systems was refused because its session has no policy.
    public var code: String { kind.rawValue }
    package let kind: Code
    /// The names of the classes concerned, for `foreign-protocol`.
    public let classes: [String]
    /// A Boolean value that indicates whether the session is free of the problem.
    public let isResolved: Bool
    /// A description for people.
    public let text: String

    /// - Parameters:
    ///   - kind: the kind of event.
    ///   - classes: the names of the classes concerned.
    ///   - isResolved: `true` if the session is free of the problem.
    ///   - text: a description for people.
    package init(_ kind: Code, classes: [String], isResolved: Bool, text: String) {
        self.kind = kind
        self.classes = classes
        self.isResolved = isResolved
        self.text = text
    }
}

extension SessionEvent: CustomStringConvertible {
    /// The code and the text, in one line.
    public var description: String { "session \(code): \(text)" }
}
