internal import Foundation
internal import Pintle
internal import PintleOpenSSL
internal import PintleReports
internal import Synchronization

/// A factory that makes one transport for each policy that a source puts in force. Safe to use from any thread.
final class TransportProvider: Sendable {
    private typealias Transport = Result<CurlTransport, SessionRefusal>

    private let source: (any PolicySource)?
    private let observer: (any TrustFailureObserver)?
    private let validator: PathValidator
    private let options: CurlTransport.Options
    /// The batch that runs the completions of async calls.
    let completions = CompletionBatch()
    /// The transport for the newest policy that a task has asked for, with its generation; `nil` before the first task.
    private let newest = Mutex<(generation: UInt64, transport: Transport)?>(nil)

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
        let (transport, old) = newest.withLock { newest -> (Transport, Transport?) in
            // Another task may have read a newer policy in the meantime.
            if let newest, newest.generation >= snapshot.generation { return (newest.transport, nil) }
            let old = newest?.transport
            let new = makeTransport(snapshot, of: source)
            newest = (snapshot.generation, new)
            return (new, old)
        }
        // Outside the lock. The old transport ends with its last transfer.
        if case .success(let old) = old { old.retire() }
        return try transport.get()
    }

    private func makeTransport(_ snapshot: PolicySnapshot, of source: any PolicySource) -> Transport {
        do throws(SessionRefusal) {
            let generation = PolicyGeneration(snapshot, of: source, validator: validator, observer: observer)
            return .success(try CurlTransport(generation, options: options, completions: completions))
        } catch {
            return .failure(error)
        }
    }
}
