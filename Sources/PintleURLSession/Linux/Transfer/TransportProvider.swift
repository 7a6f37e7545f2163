internal import Foundation
internal import Pintle
internal import PintleOpenSSL
internal import PintleReports
internal import Synchronization

/// A factory that makes one transport for each policy that a source puts in force. Safe to use from any thread.
final class TransportProvider: Sendable {
    private let source: (any PolicySource)?
    private let observer: (any TrustFailureObserver)?
    private let validator: PathValidator
    private let options: CurlTransport.Options
    /// The batch that runs the completions of async calls.
    let completions = CompletionBatch()
    /// The transport for the newest policy that a task has asked for; `nil` before the first task.
    private let newest = Mutex<CurlTransport?>(nil)

    /// - Parameter source: the source of policies; `nil` for a session that refuses every request.
    init(
        _ source: (any PolicySource)?, observer: (any TrustFailureObserver)?, validator: PathValidator,
        options: CurlTransport.Options
    ) {
        self.source = source
        self.observer = observer
        self.validator = validator
        self.options = options
    }

    /// Returns the transport for the policy that is in force now.
    func transport() throws(SessionRefusal) -> CurlTransport {
        guard let source else {
            throw SessionRefusal(
                .unsupportedFeature, "PinnedURLSession.shared has no policy", hint: "use URLSession.pinned(to:)")
        }
        let snapshot = source.current
        let (transport, old) = try newest.withLock { newest throws(SessionRefusal) -> (CurlTransport, CurlTransport?) in
            // Another task may have read a newer policy in the meantime.
            if let newest, newest.generation.snapshot.generation >= snapshot.generation { return (newest, nil) }
            let old = newest
            let generation = PolicyGeneration(snapshot, of: source, validator: validator, observer: observer)
            // If this fails, the next task tries again.
            let new = try CurlTransport(generation, options: options, completions: completions)
            newest = new
            return (new, old)
        }
        // Outside the lock. The old transport ends with its last transfer.
        old?.retire()
        return transport
    }
}
