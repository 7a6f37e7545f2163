/// The result of a request, for async callers.
public struct DataTask<Value: Sendable>: Sendable {
    private let receive: @Sendable () async throws -> Value

    init(_ receive: @escaping @Sendable () async throws -> Value) {
        self.receive = receive
    }

    public var value: Value {
        get async throws { try await receive() }
    }
}
