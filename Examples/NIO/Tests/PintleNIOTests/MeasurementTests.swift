import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Pintle
import PintleNIO
import PintleOpenSSL
import PintleStorage
import PintleTestKit
import Synchronization
import Testing

/// Prints what an event loop waits for. The numbers depend on the machine, so they are not asserted.
@Suite("Measurements", .serialized)
struct MeasurementTests {
    @Test("256 connections at once are accepted, on one event loop", arguments: [false, true])
    func crowd(isOnLoop: Bool) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let fixture = try Fixture(includesSystem: true)
        let tls = try PinnedTLS(policy: fixture.policy)
        let own = isOnLoop ? try OwnHandler(fixture) : nil
        let loop = group.next()

        for round in ["first 1", "later 1", "later 256"] {
            let watch = LoopWatch(loop)
            let count = round.hasSuffix("256") ? 256 : 1
            let channels = try await withThrowingTaskGroup(of: (any Channel).self) { tasks in
                for _ in 0..<count {
                    tasks.addTask {
                        let log = EventLog()
                        let channel = try await ClientBootstrap(group: loop)
                            .channelInitializer { channel in
                                channel.eventLoop.makeCompletedFuture {
                                    if let own {
                                        try channel.pipeline.syncOperations.addHandler(own.handler())
                                    } else {
                                        try tls.addHandlers(to: channel, for: fixture.endpoint)
                                    }
                                    try channel.pipeline.syncOperations.addHandler(RecordingHandler(log))
                                }
                            }
                            .connect(host: "127.0.0.1", port: Int(fixture.server.port)).get()
                        #expect(await log.outcome().last == "handshake completed")
                        return channel
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            let gap = await watch.stop()
            let place = isOnLoop ? "on the event loop" : "on the thread pool"
            print("verdict \(place), \(round): the event loop's longest gap is \(gap / 1_000) us")
            for channel in channels { try? await channel.close() }
        }
        try await group.shutdownGracefully()
    }

    @Test("Memory does not grow with the number of connections")
    func memory() async throws {
        let fixture = try Fixture()
        let tls = try PinnedTLS(policy: fixture.policy)
        let total = ProcessInfo.processInfo.environment["PINTLE_CONNECTIONS"].flatMap { Int($0) } ?? 1_000
        var lines: [String] = []
        for number in 0...total {
            let (channel, log) = try await fixture.connect(tls)
            #expect(await log.outcome().last == "handshake completed")
            try await channel.close()
            if number % max(total / 5, 1) == 0 { lines.append("\(number): \(Self.residentKiB) KiB") }
        }
        print("resident memory after connections, the server's included: \(lines.joined(separator: ", "))")
    }

    private static var residentKiB: Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return line.flatMap { $0.split(separator: " ").dropFirst(0).compactMap { Int($0) }.first } ?? 0
    }
}

/// NIOSSL's handler with a verdict on the event loop, as code without PintleNIO has it.
private struct OwnHandler: Sendable {
    let context: NIOSSLContext
    let evaluator: ServerTrustEvaluator
    let server: ServerEndpoint

    init(_ fixture: Fixture) throws {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        context = try NIOSSLContext(configuration: configuration)
        evaluator = ServerTrustEvaluator(policy: fixture.policy)
        server = fixture.endpoint
    }

    func handler() throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(
            context: context, serverHostname: server.host.description,
            customVerificationCallback: { [evaluator, server] certificates, promise in
                let presented = (try? certificates.map { try $0.toDERBytes() }) ?? []
                let evaluation = evaluator.evaluate(server, presented: presented, at: Date())
                promise.succeed(evaluation.decision.isTrusted ? .certificateVerified : .failed)
            })
    }
}

/// Measures the longest time between two turns of an event loop.
private final class LoopWatch: Sendable {
    private let task: RepeatedTask
    private let longest: NIOLoopBoundBox<(last: NIODeadline, gap: Int64)>
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
        let longest = NIOLoopBoundBox<(last: NIODeadline, gap: Int64)>.makeBoxSendingValue(
            (last: .now(), gap: 0), eventLoop: loop)
        self.longest = longest
        task = loop.scheduleRepeatedTask(initialDelay: .zero, delay: .microseconds(200)) { _ in
            let now = NIODeadline.now()
            longest.value = (now, max(longest.value.gap, (now - longest.value.last).nanoseconds))
        }
    }

    /// Stops, and returns the longest time in nanoseconds.
    func stop() async -> Int64 {
        task.cancel()
        return (try? await loop.submit { [longest] in longest.value.gap }.get()) ?? 0
    }
}
