import Foundation
import FoundationNetworking

/// Other tasks of a session, which must not slow down the requests that are measured.
enum LoadDisturbance {
    /// Four data tasks at once, with a delegate that blocks for 50 ms in each callback.
    case slowDelegate
    /// Sixteen requests at once to a host that delays its answers and sends them in pieces.
    case slowHost(URL)

    /// Starts the disturbance and returns when it has reached its full effect. It continues until the returned task is
    /// cancelled.
    func start(in session: URLSession, url: URL) async -> Task<Void, Never> {
        let task = Task {
            await withTaskGroup { group in
                for _ in 0..<width {
                    group.addTask {
                        while !Task.isCancelled { await once(in: session, url: url) }
                    }
                }
            }
        }
        try? await Task.sleep(nanoseconds: 200_000_000)
        return task
    }

    private var width: Int {
        switch self {
        case .slowDelegate: 4
        case .slowHost: 16
        }
    }

    private func once(in session: URLSession, url: URL) async {
        switch self {
        case .slowDelegate: await SlowDelegate().run(session.dataTask(with: url))
        case .slowHost(let slow):
            let size = try? await session.data(from: slow).0.count
            // A cancelled request fails.
            guard Task.isCancelled || size == SlowHost.size else { stop("the slow host fails") }
        }
    }
}
