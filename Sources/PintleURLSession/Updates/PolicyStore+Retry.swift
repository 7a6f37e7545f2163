internal import Foundation
internal import Pintle
public import PintleUpdates

extension PolicyStore {
    /// Makes a request; where a server's key is not pinned, asks for an update, and if another policy is in force then,
    /// makes the request once more.
    ///
    ///     let (data, _) = try await store.refreshIfMismatch(from: source) { try await session.data(from: url) }
    ///
    /// Nothing of the refused request was sent, so making it again repeats nothing. Updates are asked for at most once in
    /// ten minutes of a process.
    ///
    /// - Parameter request: made with a session that is pinned to this store.
    /// - Throws: what the request throws; after the second attempt, what that one throws.
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
