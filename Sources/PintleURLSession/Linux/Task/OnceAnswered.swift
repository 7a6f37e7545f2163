internal import Synchronization

/// A completion handler that ignores all calls but the first.
///
/// A delegate may keep the handler for ever. So the action must not hold the task's loader, the delegate or the
/// transport.
final class OnceAnswered<Value>: Sendable {
    private let action: Mutex<(@Sendable (Value) -> Void)?>

    init(_ action: @escaping @Sendable (Value) -> Void) {
        self.action = Mutex(action)
    }

    func answer(_ value: Value) {
        let first = action.withLock { action in
            defer { action = nil }
            return action
        }
        first?(value)
    }
}
