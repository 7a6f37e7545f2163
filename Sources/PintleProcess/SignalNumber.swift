#if !canImport(Darwin)
internal import Synchronization
#endif

/// A number that the handler of a signal stores and the program reads. It begins with 0.
///
/// Make it before the handler can run, because the handler may not allocate.
package final class SignalNumber: Sendable {
    #if canImport(Darwin)
    // `Atomic` needs macOS 15. Safe, because the processors of Macs load and store an aligned word as a whole, and
    // nothing is ordered by this number. A loop that waits for it must make a system call.
    private nonisolated(unsafe) let word = UnsafeMutablePointer<Int>.allocate(capacity: 1)

    package init() { word.initialize(to: 0) }

    deinit { word.deallocate() }

    package var value: Int { word.pointee }

    package func store(_ number: Int) { word.pointee = number }
    #else
    private let word = Atomic(0)

    package init() {}

    package var value: Int { word.load(ordering: .relaxed) }

    package func store(_ number: Int) { word.store(number, ordering: .relaxed) }
    #endif
}
