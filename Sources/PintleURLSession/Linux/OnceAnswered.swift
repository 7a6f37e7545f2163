internal import Synchronization

/// What a delegate answers, of which only the first counts.
final class OnceAnswered<Value>: Sendable {
    private let action: Mutex<(@Sendable (Value) -> Void)?>

    init(_ action: @escaping @Sendable (Value) -> Void) {
        self.action = Mutex(action)
    }

    func take(_ value: Value) {
        let first = action.withLock { action in
            defer { action = nil }
            return action
        }
        first?(value)
    }
}
