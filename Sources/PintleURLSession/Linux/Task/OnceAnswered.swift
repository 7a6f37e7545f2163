internal import Synchronization

/// A completion handler of which only the first call counts.
///
/// A delegate may keep it for ever. So the action must hold neither the task's loader nor the delegate nor the transport.
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
