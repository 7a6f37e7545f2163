internal import Foundation
internal import Pintle
public import PintleEvents
internal import PintlePolicyFile
internal import PintleReports
public import PintleUpdates

extension TrustEventObserver {
    /// Passes the events of updates to this observer too.
    ///
    ///     let store = try PolicyStore(folder: folder, trust: trust, bundled: bundled) { reporter.observe($0) }
    ///
    /// Ignores the event that an update was adopted. Returns at once, on any thread.
    public func observe(_ event: PolicyStoreEvent) {
        guard let update = UpdateEvent(event) else { return }
        TrustEventFeed.shared.post(.update(update), to: self)
    }
}

extension UpdateEvent {
    /// Creates the event for an observer. Returns `nil` for an update that was adopted.
    public init?(_ event: PolicyStoreEvent) {
        switch event {
        case .adopted: return nil
        case .stale(let version, let since):
            self.init(.stale, version: version, text: "it expired on \(RFC3339.string(from: since)); it stays in force")
        case .lostStore(let loss):
            self.init(.lostStore, version: loss.version, text: Self.escaped(loss.reason))
        case .rejected(let error, let url):
            self.init(
                .rejected, reason: error.code.rawValue, source: url,
                text: "\(error.code.rawValue), \(Self.escaped("\(error)"))")
        case .notFetched(let url, let description):
            self.init(.notFetched, source: url, text: Self.escaped(description))
        case .notStored(let error): self.init(.notStored, text: Self.escaped("\(error)"))
        case .floorUnreadable(let error): self.init(.floorUnreadable, text: Self.escaped("\(error)"))
        }
    }

    /// Escapes a text so that it stays on one line, whatever a server put into it.
    private static func escaped(_ text: String) -> String {
        String(JSONWriter.quoted(String(text.prefix(500))).dropFirst().dropLast())
    }
}
