import Foundation
import Pintle

/// The pins of all sessions of the process, for guards that know only the session.
///
/// A library may put a delegate of its own before a session's. The session's `delegate` then is the library's.
enum PinnedSessions {
    private struct Entry: Sendable {
        // The session's delegate retains them. If a library has dropped that delegate, the session has no pins.
        weak var pins: SessionPins?
        /// The servers that guards refused because the session has no pins.
        var refusals: Set<ServerEndpoint> = []
    }

    private static let entries = Locked(WeakTable<URLSession, Entry>(capacity: 4_096))

    /// Records the pins of a session, unless it has pins already.
    static func record(_ pins: SessionPins, for session: URLSession) {
        entries.withLock { entries in
            var entry = entries[session] ?? Entry()
            guard entry.pins == nil else { return }
            entry.pins = pins
            entries[session] = entry
        }
    }

    static func pins(of session: URLSession) -> SessionPins? {
        if let pins = (session.delegate as? PinningSessionDelegate)?.known { return pins }
        return entries.withLock { $0[session]?.pins }
    }

    static func forget(_ session: URLSession) {
        entries.withLock { $0[session] = nil }
    }

    /// Records that a guard refused a server because it found no pins.
    static func recordRefusal(of server: ServerEndpoint, in session: URLSession) {
        entries.withLock { entries in
            var entry = entries[session] ?? Entry()
            if entry.refusals.count >= 1_024 { entry.refusals = [] }
            entry.refusals.insert(server)
            entries[session] = entry
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
