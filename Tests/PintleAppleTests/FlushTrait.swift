import Foundation
import Security
import Testing

/// Makes `flush` close the connections of the sessions that a test makes. Apple documents that it does, and the code of
/// several releases of the system keeps them, as the stand-in does without this trait.
struct FlushTrait: TestTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await StandIn.$flushClosesConnections.withValue(true) { try await function() }
    }
}

extension Trait where Self == FlushTrait {
    static var flushCloses: Self { Self() }
}
