import FoundationEssentials
import Glibc
import Pintle
import PintleStorage
import PintleTestKit
import Testing

@testable import PintleUpdates

/// A store's folder and the app that opens it.
struct StoreScene {
    let directory: TemporaryDirectory
    var app: ShippedApp
    let events = Locked<[PolicyStoreEvent]>([])

    init() throws {
        directory = try TemporaryDirectory()
        app = try ShippedApp()
    }

    var folder: String { directory.path }

    func open(
        _ onLostStore: PolicyStore.LossHandling = .useBundled, floor: (any UpdateFloorStorage)? = nil,
        releaseDate: Date? = nil
    ) throws -> PolicyStore {
        let events = events
        return try PolicyStore(
            folder: folder, trust: try app.trust, bundled: try Publication.read(app.bundled),
            releaseDate: releaseDate, floor: floor, onLostStore: onLostStore
        ) { event in events.withLock { $0.append(event) } }
    }

    /// Returns a valid update whose pin is derived from its version.
    func update(_ version: UInt8, by keys: TestKey...) throws -> [UInt8] {
        let publication = Publication(
            version: "\(version)", policy: Publication.policy(Publication.rule("example.com", pin: version)))
        return try Publication.sign(publication.payload, by: keys.isEmpty ? [app.one] : keys)
    }

    /// Returns the content of a file; `nil` if it does not exist.
    func file(_ name: String) -> [UInt8]? { try? directory.read(name) }

    func remove(_ name: String) { unlink(directory.path(of: name)) }

    /// Returns and removes the events since the last call.
    func takeEvents() -> [String] {
        events.withLock { events in
            defer { events = [] }
            return events.map { event in
                switch event {
                case .adopted(let update): "adopted \(update.version)"
                case .stale(let version, _): "stale \(version)"
                case .lostStore(let loss): "lost \(loss.version.map(String.init) ?? "?")"
                case .rejected(let rejection, let url): "rejected \(rejection.code.rawValue) \(url)"
                case .notFetched(let url, _): "not fetched \(url)"
                case .notStored: "not stored"
                case .floorUnreadable(let error): "floor \(error.code.rawValue)"
                }
            }
        }
    }
}

extension PolicyStore {
    nonisolated var version: Int { current.policy.updateVersion }
    /// The pin of the first rule, which identifies the policy in force.
    nonisolated var pin: String? { current.policy.hosts.first?.pins.first?.description }
}
