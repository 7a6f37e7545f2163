// Fetches signed updates of the policy that the app ships.

// Only on Linux, because on Apple's systems Foundation has no separate networking module.
#if canImport(PintleURLSession) && canImport(FoundationNetworking)
import PintleRemote
import Foundation
import PintleURLSession

func load(_ url: URL, latest: URL, bundled: PinningPolicy, keys: [String], folder: String) async throws -> Data {
    // snippet.store
    // Once, when the app starts. The folder is the app's own and exists. `latest` is the URL of latest.json.
    let trust = try UpdateTrust(keys: keys.map { try UpdateKey(pem: $0) })
    let store = try PolicyStore(folder: folder, trust: trust, bundled: bundled) { event in print(event) }
    let source = UpdateSource(urls: [latest], transport: SystemTrustTransport())
    Task { await store.keepFresh(from: source) }

    // Each request uses the policy that is in force when it starts.
    let session = URLSession.pinned(to: store)
    let (data, _) = try await store.refreshIfMismatch(from: source) { try await session.data(from: url) }
    // snippet.end
    return data
}

func openStrictly(
    _ source: UpdateSource, trust: UpdateTrust, bundled: PinningPolicy, folder: String
) async throws -> PolicyStore {
    // snippet.strict
    func open(_ onLostStore: PolicyStore.LossHandling) throws -> PolicyStore {
        try PolicyStore(folder: folder, trust: trust, bundled: bundled, onLostStore: onLostStore)
    }
    do {
        return try open(.refuse)
    } catch PolicyStoreError.lostStore {
        // Only fetches. No session is pinned to it, and it takes no update older than the lost one.
        try await open(.useBundled).refresh(from: source)
        return try open(.refuse)
    }
    // snippet.end
}
#endif
