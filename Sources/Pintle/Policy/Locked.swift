// `Mutex` requires iOS 18 or macOS 15, and `NSLock` requires the full Foundation. Darwin is tested first, because an
// Apple SDK may also have FoundationEssentials.
#if canImport(Darwin) || !canImport(FoundationEssentials)
internal import Foundation
#else
internal import Synchronization
#endif

/// A value that is protected by a lock.
package final class Locked<Value: Sendable>: Sendable {
    #if canImport(Darwin) || !canImport(FoundationEssentials)
    private let lock = NSLock()
    // Safe, because `value` is accessed only while `lock` is held.
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
