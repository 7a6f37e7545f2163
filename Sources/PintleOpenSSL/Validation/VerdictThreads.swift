internal import Dispatch
internal import Synchronization

/// A few threads for verdicts that a caller does not want to wait for.
///
/// The queues are serial, because a concurrent queue of Dispatch would share its threads with Swift's tasks. The first
/// verdict reads files.
enum VerdictThreads {
    /// A power of two.
    private static let queues = (1...4).map { DispatchQueue(label: "pintle.verdict.\($0)") }
    private static let turn = Atomic<Int>(0)

    static func run(_ verdict: @escaping @Sendable () -> Void) {
        let number = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        queues[number & (queues.count - 1)].async(execute: verdict)
    }
}
