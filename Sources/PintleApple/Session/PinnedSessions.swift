import Foundation
import Pintle

/// The pins of all sessions of the process, for guards that know only the session.
///
/// A library may put a delegate of its own before a session's. The session's `delegate` then is the library's.
enum PinnedSessions {
    private struct Entry: Sendable {
        // The session's delegate retains them. If a library has dropped that delegate, the session has no pins.
        weak var pins: SessionPins?
        /// A Boolean value that indicates whether two delegates with different pins say that the session is theirs.
        var isDisputed = false
        /// The servers that guards refused because the session has no pins.
        var refusals: Set<ServerEndpoint> = []
    }

    private static let entries = Locked(WeakTable<URLSession, Entry>(capacity: 4_096))

    /// The task whose creation a guard passes on to the session's delegate.
    @TaskLocal private static var passedOn: ObjectIdentifier?

    /// Records the pins of a session. If it has others already, which of them are its own is unknown, so it
    /// counts as a session without pins.
    static func record(_ pins: SessionPins, for session: URLSession) {
        // References that were loaded under the lock are released after it: `deinit` of an app's delegate may need it.
        let loaded = entries.withLock { entries -> (SessionPins?, [URLSession]) in
            var entry = entries[session] ?? Entry()
            let known = entry.pins
            guard known !== pins else { return (known, []) }
            if known == nil { entry.pins = pins } else { entry.isDisputed = true }
            entry.refusals = []
            return (known, entries.insert(entry, for: session))
        }
        withExtendedLifetime(loaded) {}
    }

    /// Records the pins of the delegate that is called for a new task, unless it is the delegate of the task.
    ///
    /// A call for a task without a delegate of its own can only come from the session's delegate. So can one that a
    /// guard passes on. A finished task has lost its delegate.
    static func record(_ pins: SessionPins, for session: URLSession, asCreatorOf task: URLSessionTask) {
        guard task.delegate == nil || passedOn == ObjectIdentifier(task), task.state != .completed else { return }
        record(pins, for: session)
    }

    /// Passes the creation of a task on to the session's delegate if the session has no pins yet.
    ///
    /// The system calls only the guard. A `PinningSessionDelegate` behind a library's delegate then records its pins.
    ///
    /// - Returns: `true` if the session's delegate got the call.
    @available(iOS 16, macOS 13, tvOS 16, watchOS 9, *)
    static func passOn(_ task: URLSessionTask, in session: URLSession) -> Bool {
        // A library's delegate may pass the call on to the task's delegate, which is this guard.
        guard passedOn != ObjectIdentifier(task), pins(of: session) == nil,
            let delegate = session.delegate as? any URLSessionTaskDelegate,
            let tell = offered(
                delegate, delegate.urlSession(_:didCreateTask:), named: "urlSession(_:didCreateTask:)")
        else { return false }
        $passedOn.withValue(ObjectIdentifier(task)) { tell(session, task) }
        return true
    }

    /// Returns `true` while a guard passes on the creation of this task.
    static func isPassedOn(_ task: URLSessionTask) -> Bool { passedOn == ObjectIdentifier(task) }

    static func pins(of session: URLSession) -> SessionPins? {
        if let pins = (session.delegate as? PinningSessionDelegate)?.known { return pins }
        return entries.withLock { entries in
            guard let entry = entries[session], !entry.isDisputed else { return nil }
            return entry.pins
        }
    }

    static func forget(_ session: URLSession) {
        entries.withLock { $0[session] = nil }
    }

    /// Records that a guard refused a server because it found no pins.
    static func recordRefusal(of server: ServerEndpoint, in session: URLSession) {
        _ = entries.withLock { entries in
            var entry = entries[session] ?? Entry()
            if entry.refusals.count >= 1_024 { entry.refusals = [] }
            entry.refusals.insert(server)
            return entries.insert(entry, for: session)
        }
    }

    /// Returns `true` if a guard refused the server of a failed request because it found no pins.
    static func hasRefused(_ error: URLError, url: URL?, in session: URLSession) -> Bool {
        guard error.code == .cancelled, let url = error.failingURL ?? url,
            let server = RejectionLog.server(of: url)
        else { return false }
        return entries.withLock { $0[session]?.refusals.contains(server) ?? false }
    }
}
