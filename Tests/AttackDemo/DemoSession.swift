internal import Foundation
internal import PintleURLSession

#if PINTLE_APPLE
internal import Security
#else
internal import FoundationNetworking
#endif

/// A session of either type: on Linux one is the other's subclass, on Apple's systems they have only a spelling in common.
struct DemoSession: Sendable {
    let data: @Sendable (URL) async throws -> (Data, URLResponse)
    let explain: @Sendable (any Error) -> any Error
    let finish: @Sendable () -> Void

    init(_ session: URLSession) {
        data = { try await session.data(from: $0) }
        explain = { session.explain($0) }
        finish = { session.finishTasksAndInvalidate() }
    }

    init(pinned session: PinnedURLSession) {
        data = { try await session.data(from: $0) }
        explain = { session.explain($0) }
        finish = { session.finishTasksAndInvalidate() }
    }
}
