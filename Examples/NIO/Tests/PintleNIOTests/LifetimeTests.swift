import Foundation
import NIOCore
import NIOPosix
import Pintle
import PintleNIO
import PintleTestKit
import Synchronization
import Testing

@Suite("The lifetime of a verdict")
struct LifetimeTests {
    private static let quick = PinnedTLS.Timing(check: .milliseconds(10))

    @Test("An open channel is told of another policy once, and a new channel gets its verdict")
    func policyChange() async throws {
        let fixture = try Fixture()
        let policy = LivePolicy(fixture.policy)
        let tls = try PinnedTLS(policy: policy, timing: Self.quick)
        let (channel, log) = try await fixture.connect(tls)
        #expect(await log.outcome().last == "handshake completed")
        let receipt = try #require(try await channel.trustReceipt().get())
        #expect(tls.allows(receipt, for: receipt.endpoint))

        policy.replace(with: fixture.otherPolicy)
        #expect(!tls.allows(receipt, for: receipt.endpoint))
        #expect(await log.first { $0 == .ended(.policyChanged) } != nil)
        let (_, second) = try await fixture.connect(tls)
        #expect(await second.outcome() == ["rejected pin-mismatch", "inactive"])

        policy.replace(with: fixture.policy)
        let (third, accepted) = try await fixture.connect(tls)
        #expect(await accepted.outcome().last == "handshake completed")
        #expect(log.texts.count { $0.hasPrefix("ended") } == 1)
        #expect(try await channel.trustReceipt().get() == receipt)
        try await third.close()
        try await channel.close()
    }

    @Test("A channel is told nothing while its policy stays")
    func noPolicyChange() async throws {
        let fixture = try Fixture()
        let source = CountingSource(fixture.policy)
        let (channel, log) = try await fixture.connect(PinnedTLS(policy: source, timing: Self.quick))
        #expect(await log.outcome().last == "handshake completed")
        while source.count.load(ordering: .relaxed) < 10 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(log.texts == ["receipt pin-matched", "handshake completed"])
        try await channel.close()
    }

    @Test("A policy that comes during a handshake ends it, before a handler can send anything")
    func policyChangeInHandshake() async throws {
        let fixture = try Fixture()
        // Each read has a later generation, so the verdict's is superseded when the handshake ends.
        let tls = try PinnedTLS(policy: RestlessSource(fixture.policy), timing: .init(check: .hours(1)))
        let (channel, log) = try await fixture.connect(tls)
        #expect(await log.outcome() == ["failed \(PinnedTLSError.policyChanged(fixture.endpoint))", "inactive"])
        try? await channel.closeFuture.get()
    }

    @Test("A channel is told when its receipt ends")
    func receiptEnds() async throws {
        let fixture = try Fixture(notAfter: .fromNow(seconds: 2))
        let tls = try PinnedTLS(policy: fixture.policy, timing: Self.quick)
        let (channel, log) = try await fixture.connect(tls)
        #expect(await log.outcome().last == "handshake completed")
        let receipt = try #require(try await channel.trustReceipt().get())
        #expect(tls.allows(receipt, for: receipt.endpoint, at: receipt.validUntil.addingTimeInterval(-0.1)))
        #expect(!tls.allows(receipt, for: receipt.endpoint, at: receipt.validUntil))
        #expect(await log.first { $0 == .ended(.receiptEnded) } != nil)
        try await channel.close()
    }

    @Test("A receipt ends with the pins, if they end before the certificates")
    func pinsEnd() async throws {
        let fixture = try Fixture()
        let end = Date(timeIntervalSince1970: (Date().timeIntervalSince1970 + 3_600).rounded())
        let policy = try PinningPolicy {
            for host in fixture.policy.hosts {
                try PinnedHost(
                    "localhost", pins: host.pins, backup: .noneAccepted, expiry: .rejecting(after: end),
                    anchors: host.anchors)
            }
        }
        for (policy, isEarly) in [(policy, true), (fixture.policy, false)] {
            let (channel, log) = try await fixture.connect(PinnedTLS(policy: policy))
            #expect(await log.outcome().last == "handshake completed")
            let receipt = try #require(try await channel.trustReceipt().get())
            #expect((receipt.validUntil == end) == isEarly)
            try await channel.close()
        }
    }

    @Test("20 channels that close while their verdict is pending are closed at once, and the verdicts do no harm")
    func closedMidVerdict() async throws {
        let fixture = try Fixture()
        let source = WaitingSource(fixture.policy)
        let threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
        let tls = try PinnedTLS(policy: source, threads: threads)
        var open: [(channel: any Channel, log: EventLog)] = []
        for _ in 0..<20 { open.append(try await fixture.connect(tls)) }
        // Both threads are in a verdict, and the others wait behind them.
        while source.waiting.load(ordering: .acquiring) < 2 { try await Task.sleep(for: .milliseconds(1)) }
        for (channel, log) in open {
            channel.close(promise: nil)
            _ = await log.first { $0 == .inactive }
            #expect(!log.texts.contains("handshake completed"))
        }
        source.gate.signal()
        // All verdicts have been given when the pool has ended.
        try await threads.shutdownGracefully()
        for (_, log) in open {
            #expect(log.events.last == .inactive)
            #expect(!log.texts.contains { $0.hasPrefix("receipt") || $0.hasPrefix("rejected") })
        }
        #expect(fixture.server.waitUntilClosed(connections: 20))
        #expect(fixture.server.requestByteCount == 0)
    }

    @Test("A handshake that stalls ends with an error")
    func stalledHandshake() async throws {
        let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let fixture = try Fixture()
        let port = UInt16(silent.localAddress?.port ?? 0)
        let tls = try PinnedTLS(policy: fixture.policy, timing: .init(handshake: .milliseconds(50)))
        let (_, log) = try await Fixture.connect(tls, fixture.endpoint, port: port)
        #expect(await log.outcome().first == "failed handshakeTimedOut")
        try await silent.close()
    }
}

/// Counts its reads.
final class CountingSource: PolicySource {
    let count = Atomic(0)
    private let policy: PinningPolicy

    init(_ policy: PinningPolicy) { self.policy = policy }

    var current: PolicySnapshot {
        count.add(1, ordering: .relaxed)
        return PolicySnapshot(policy: policy, generation: 1)
    }
}

/// Has a later generation at each read.
final class RestlessSource: PolicySource {
    private let generation = Atomic<UInt64>(0)
    private let policy: PinningPolicy

    init(_ policy: PinningPolicy) { self.policy = policy }

    var current: PolicySnapshot {
        PolicySnapshot(policy: policy, generation: generation.add(1, ordering: .relaxed).newValue)
    }
}

/// Makes verdicts wait for a signal.
final class WaitingSource: PolicySource {
    let waiting = Atomic(0)
    let gate = DispatchSemaphore(value: 0)
    private let policy: PinningPolicy

    init(_ policy: PinningPolicy) { self.policy = policy }

    var current: PolicySnapshot {
        waiting.add(1, ordering: .acquiringAndReleasing)
        gate.wait()
        gate.signal()
        return PolicySnapshot(policy: policy, generation: 1)
    }
}
