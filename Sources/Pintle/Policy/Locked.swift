// Of the two locks, each is missing somewhere: `Mutex` on the oldest Apple systems that this package runs on,
// `NSLock` where only the essentials of Foundation are linked.
#if canImport(FoundationEssentials)
internal import Synchronization
#else
internal import Foundation
#endif

/// A value that one thread at a time reads or changes.
package final class Locked<Value: Sendable>: Sendable {
    #if canImport(FoundationEssentials)
    private let value: Mutex<Value>

    package init(_ value: Value) {
        self.value = Mutex(value)
    }

    package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
    #else
    private let lock = NSLock()
    // Touched under the lock alone.
    private nonisolated(unsafe) var value: Value

    package init(_ value: Value) {
        self.value = value
    }

    package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return body(&value)
    }
    #endif
}
