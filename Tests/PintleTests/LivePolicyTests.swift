import Dispatch
import Testing

@testable import Pintle

@Suite("Replaceable policies")
struct LivePolicyTests {
    private func policy(_ host: String) throws -> PinningPolicy {
        try PinningPolicy(hosts: [try PinnedHost(host, pins: [Pin]())])
    }

    @Test("A replacement takes effect at once, with the next generation")
    func replace() throws {
        let live = LivePolicy(try policy("a.example"))
        #expect(live.current.generation == 1)
        let before = live.current
        let after = live.replace(with: try policy("b.example"))
        #expect(after.generation == 2)
        #expect(live.current.generation == 2)
        #expect(live.current.policy.hosts.map(\.host.description) == ["b.example"])
        // A snapshot that was read before does not change.
        #expect(before.policy.hosts.map(\.host.description) == ["a.example"])
    }

    @Test("Threads that replace at the same time get different generations, and readers never see an older one again")
    func concurrent() throws {
        let policies = [try policy("a.example"), try policy("b.example")]
        let live = LivePolicy(policies[0])
        let generations = Locked<[UInt64]>([])
        let wentBack = Locked(false)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            var last: UInt64 = 0
            for round in 0..<500 {
                if thread < 4 {
                    let generation = live.replace(with: policies[round % 2]).generation
                    generations.withLock { $0.append(generation) }
                }
                let seen = live.current.generation
                if seen < last { wentBack.withLock { $0 = true } }
                last = seen
            }
        }
        #expect(generations.withLock { Set($0) } == Set(2...2_001))
        #expect(live.current.generation == 2_001)
        #expect(!wentBack.withLock { $0 })
    }
}
