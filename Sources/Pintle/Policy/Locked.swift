// `Mutex` is missing on Apple's systems before iOS 18 and macOS 15, `NSLock` where only the essentials of Foundation are
// linked. Darwin comes first, because an SDK of Apple's may have the essentials too.
#if canImport(Darwin) || !canImport(FoundationEssentials)
internal import Foundation
#else
internal import Synchronization
#endif

/// A value that one thread at a time reads or changes.
package final class Locked<Value: Sendable>: Sendable {
    #if canImport(Darwin) || !canImport(FoundationEssentials)
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
    #else
    private let value: Mutex<Value>

    package init(_ value: Value) {
        self.value = Mutex(value)
    }

    package func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
    #endif
}
