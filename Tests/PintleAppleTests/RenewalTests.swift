import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Security
import Testing

/// When the connections go that an earlier policy has judged: before anybody can send over one.
@Suite("Apple: connections after a change of the policy")
struct RenewalTests {
    @Test("Whoever makes a task while another thread drops the connections waits for that", arguments: [true, false])
    func together(isChanged: Bool) async throws {
        let policy = LivePolicy(try PinningPolicy(hosts: []))
        let (queue, order) = (HookedQueue(), Locked<[String]>([]))
        let session = URLSession(
            configuration: .ephemeral, delegate: PinningSessionDelegate(policy), delegateQueue: queue)
        let url = try #require(URL(string: "https://localhost:9/"))
        _ = session.dataTask(with: url)
        if isChanged { policy.replace(with: try PinningPolicy(hosts: [], unpinnedHosts: .reject)) }
        await meeting(queue, order, in: [{ _ = session.dataTask(with: url) }, { _ = session.dataTask(with: url) }])
        #expect(order.withLock { $0 } == (isChanged ? ["dropped", "second"] : ["second"]))
        #expect(queue.count == (isChanged ? 1 : 0))
        session.invalidateAndCancel()
    }

    @Test("Whoever asks for a background session meanwhile waits for that too", arguments: [true, false])
    func background(isChanged: Bool) async throws {
        let policy = LivePolicy(try PinningPolicy(hosts: []))
        let (queue, order) = (HookedQueue(), Locked<[String]>([]))
        let configuration = URLSessionConfiguration.ephemeral
        configuration.identifier = UUID().uuidString
        let session = URLSession.pinned(
            to: policy, configuration: configuration, delegate: nil, delegateQueue: queue)
        _ = session.current
        if isChanged { policy.replace(with: try PinningPolicy(hosts: [], unpinnedHosts: .reject)) }
        await meeting(queue, order, in: [{ _ = session.current }, { _ = session.current }])
        #expect(order.withLock { $0 } == (isChanged ? ["dropped", "second"] : ["second"]))
        #expect(queue.count == (isChanged ? 1 : 0))
        session.invalidateAndCancel()
    }

    /// Has the second begin in the midst of what the first has the session do, if it does anything.
    private func meeting(
        _ queue: HookedQueue, _ order: Locked<[String]>, in works: [@Sendable () -> Void]
    ) async {
        let (second, isOver) = (works[1], DispatchSemaphore(value: 0))
        let begin: @Sendable () -> Void = {
            Thread {
                second()
                order.withLock { $0.append("second") }
                isOver.signal()
            }.start()
        }
        queue.setHook {
            begin()
            // Whoever waits does so for all of this time, and whoever does not needs less.
            Thread.sleep(forTimeInterval: 0.3)
            order.withLock { $0.append("dropped") }
        }
        await withCheckedContinuation { done in
            Thread {
                works[0]()
                if queue.count == 0 { begin() }
                isOver.wait()
                done.resume()
            }.start()
        }
        queue.setHook(nil)
    }

    @Test("A source that is late with an older generation has nothing dropped again", arguments: [1, 3] as [UInt64])
    func older(between generation: UInt64) throws {
        let source = Numbered(try PinningPolicy(hosts: []))
        let queue = HookedQueue()
        let session = URLSession(
            configuration: .ephemeral, delegate: PinningSessionDelegate(source), delegateQueue: queue)
        let url = try #require(URL(string: "https://localhost:9/"))
        for number in [0, 2, generation, max(2, generation)] {
            source.number.withLock { $0 = number }
            _ = session.dataTask(with: url)
        }
        #expect(queue.count == (generation == 1 ? 1 : 2))
        session.invalidateAndCancel()
    }
}

/// Says when a session has something done on its delegate's queue.
///
/// Sendable: what it adds is behind a lock.
private final class HookedQueue: OperationQueue, @unchecked Sendable {
    private struct State: Sendable {
        var count = 0
        var hook: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.count } }

    func setHook(_ hook: (@Sendable () -> Void)?) { state.withLock { $0.hook = hook } }

    override func addOperation(_ block: @escaping @Sendable () -> Void) {
        let hook = state.withLock { state in
            defer { state.hook = nil }
            state.count += 1
            return state.hook
        }
        hook?()
        super.addOperation(block)
    }
}

private final class Numbered: PolicySource {
    private let policy: PinningPolicy
    let number = Locked<UInt64>(0)

    init(_ policy: PinningPolicy) {
        self.policy = policy
    }

    var current: PolicySnapshot { PolicySnapshot(policy: policy, generation: number.withLock { $0 }) }
}
