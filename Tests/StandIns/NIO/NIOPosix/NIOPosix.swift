public final class NIOThreadPool: Sendable {
    public enum WorkItemState: Sendable {
        case active, cancelled
    }

    public static let singleton = NIOThreadPool()

    public func submit(_ body: @escaping @Sendable (WorkItemState) -> Void) {}
    public func runIfActive<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try body()
    }
}
