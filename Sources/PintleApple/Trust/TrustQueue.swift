import Dispatch
import Foundation

/// Evaluates trust away from delegate queues, several connections at a time.
///
/// An evaluation blocks its thread, because the system may go to the network meanwhile. Without a limit, a burst of
/// connections would take every thread that the system gives to a process, some 64. Much less than that would let a few
/// servers with slow addresses in their certificates hold up all others.
enum TrustQueue {
    static let width = 16

    static let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.name = "Pintle.trust"
        queue.qualityOfService = .userInitiated
        queue.maxConcurrentOperationCount = width
        return queue
    }()

    /// Hands questions on, for callers that take only a queue of Dispatch. Nothing that blocks may run on it.
    static let entrance = DispatchQueue(label: "Pintle.trust.entrance", qos: .userInitiated)

    static func async(_ work: @escaping @Sendable () -> Void) { queue.addOperation(work) }
}
