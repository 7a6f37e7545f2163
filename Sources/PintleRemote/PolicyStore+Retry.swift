internal import Foundation
internal import Pintle
internal import PintleURLSession
public import PintleUpdates

extension PolicyStore {
    /// Makes a request, and repeats it once if an update fixes a pin mismatch.
    ///
    ///     let (data, _) = try await store.refreshIfMismatch(from: source) { try await session.data(from: url) }
    ///
    /// If a server's key is not pinned, the store fetches an update. If another policy is in force after that, the
    /// request runs again. This never sends a request twice, because nothing of the refused request was sent. A process
    /// fetches updates this way at most once in ten minutes.
    ///
    /// - Parameters:
    ///   - source: the addresses of the updates.
    ///   - request: A closure that makes the request with a session that is pinned to this store.
    /// - Throws: The error of the request; after a second attempt, the error of that attempt.
    nonisolated public func refreshIfMismatch<Answer: Sendable>(
        from source: UpdateSource, _ request: @Sendable () async throws -> Answer
    ) async throws -> Answer {
        let generation = current.generation
        do {
            return try await request()
        } catch {
            guard case .pinMismatch? = TrustRejection(underlying: error),
                await refreshAfterMismatch(refusedBy: generation, from: source)
            else { throw error }
            return try await request()
        }
    }
}
