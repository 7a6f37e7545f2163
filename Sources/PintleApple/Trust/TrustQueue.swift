import Dispatch
import Foundation

/// A queue that evaluates trust outside of delegate queues, several connections at a time.
///
/// An evaluation blocks its thread, because the system may use the network. Without a limit, a burst of connections
/// would use up all of the roughly 64 threads that the system gives to a process. With a much lower limit, a few
/// servers whose certificates have slow addresses could hold up all others.
enum TrustQueue {
    static let width = 16

    static let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.name = "Pintle.trust"
        queue.qualityOfService = .userInitiated
        queue.maxConcurrentOperationCount = width
        return queue
    }()

    /// A queue for APIs that accept only a Dispatch queue. It passes work on. Nothing that blocks may run on it.
    static let entrance = DispatchQueue(label: "Pintle.trust.entrance", qos: .userInitiated)

    static func async(_ work: @escaping @Sendable () -> Void) { queue.addOperation(work) }
}

/// A value that one queue passes to another and does not use any more.
///
/// Sendable: only one of the two queues uses the value at a time, because the sender gives it up.
struct Handed<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
