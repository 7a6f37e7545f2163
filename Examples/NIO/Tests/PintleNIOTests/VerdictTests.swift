import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import NIOSSL
import NIOTLS
import Pintle
import PintleEvents
import PintleNIO
import PintleOpenSSL
import PintleReports
import PintleTestKit
import Synchronization
import Testing

@Suite("The verdict of a channel")
struct VerdictTests {
    @Test(
        "A channel fires the receipt before the end of the handshake", arguments: [NIOSSL.TLSVersion.tlsv12, .tlsv13])
    func accepted(version: NIOSSL.TLSVersion) async throws {
        let fixture = try Fixture()
        let (channel, log) = try await fixture.connect(PinnedTLS(policy: fixture.policy, configuration: only(version)))
        #expect(await log.outcome() == ["receipt pin-matched", "handshake completed"])
        let receipt = try #require(try await channel.trustReceipt().get())
        #expect(receipt.endpoint == fixture.endpoint)
        #expect(receipt.generation == 1)
        #expect(try await channel.nioSSL_tlsVersion().get() == version)
        let path = try await channel.nioSSL_peerValidatedCertificateChain().get()
        #expect(try path?.map { try $0.toDERBytes() } == receipt.path.certificates)
        try await channel.close()
    }

    @Test(
        "A refused channel fails with the reason, and the server gets no byte",
        arguments: [NIOSSL.TLSVersion.tlsv12, .tlsv13])
    func refused(version: NIOSSL.TLSVersion) async throws {
        let fixture = try Fixture()
        let told = Mutex<[String]>([])
        let tls = try PinnedTLS(policy: fixture.otherPolicy, configuration: only(version)).onFailure { failure in
            told.withLock { $0.append("\(failure.endpoint) \(failure.reason)") }
        }
        let (channel, log) = try await fixture.connect(tls)
        channel.writeAndFlush(ByteBuffer(string: "secret"), promise: nil)
        #expect(await log.outcome() == ["rejected pin-mismatch", "inactive"])
        #expect(told.withLock { $0 } == ["\(fixture.endpoint) pin-mismatch"])
        #expect(fixture.server.waitUntilClosed())
        #expect(fixture.server.requestByteCount == 0)
        #expect(fixture.server.completedHandshakeCount == 0 || version == .tlsv13)
    }

    @Test("An observer gets a refusal, and nothing about an accepted server")
    func observer() async throws {
        let fixture = try Fixture()
        let recorder = TrustEventRecorder()
        for policy in [fixture.policy, fixture.otherPolicy] {
            let tls = try PinnedTLS(policy: policy).observed(by: recorder)
            let (channel, log) = try await fixture.connect(tls)
            _ = await log.outcome()
            try? await channel.close()
        }
        await recorder.waitForEvents()
        let reasons = recorder.events.map { event in
            if case .verdict(let failure) = event { failure.reason } else { "" }
        }
        #expect(reasons == ["pin-mismatch"])
    }

    @Test("Two policies in one process judge the same server differently")
    func twoPolicies() async throws {
        let fixture = try Fixture()
        let accepting = try PinnedTLS(policy: fixture.policy)
        let refusing = try PinnedTLS(policy: fixture.otherPolicy)
        for _ in 0..<8 {
            async let first = fixture.connect(accepting)
            async let second = fixture.connect(refusing)
            let (accepted, refused) = try await (first, second)
            #expect(await accepted.log.outcome().first == "receipt pin-matched")
            #expect(await refused.log.outcome().first == "rejected pin-mismatch")
            try await accepted.channel.close()
        }
    }

    @Test("An address that is not the socket's is judged by the policy, as behind a proxy")
    func otherAddress() async throws {
        let fixture = try Fixture(hosts: ["127.0.0.2"])
        let (channel, log) = try await fixture.connect(PinnedTLS(policy: fixture.policy))
        #expect(await log.outcome() == ["receipt pin-matched", "handshake completed"])
        try await channel.close()

        // Control: NIOSSL's own check refuses this server.
        let own = try await connect(fixture, .fullVerification, policy: fixture.policy)
        #expect(await own.outcome().first?.hasPrefix("failed") == true)
    }

    @Test("A name that the certificate lacks is refused by the policy")
    func otherName() async throws {
        let fixture = try Fixture(hosts: ["localhost"])
        let policy = try PinningPolicy(unpinnedHosts: .systemTrust) {
            for host in fixture.policy.hosts {
                try PinnedHost("other.example", pins: host.pins, backup: .noneAccepted, anchors: host.anchors)
            }
        }
        let other = ServerEndpoint(host: try ServerName("other.example"), port: fixture.server.port)
        let (_, log) = try await Fixture.connect(PinnedTLS(policy: policy), other, port: fixture.server.port)
        #expect(await log.outcome() == ["rejected invalid-path name-mismatch", "inactive"])
    }

    @Test("NIOSSL honours a refusal unless its verification is off")
    func refusalIsHonoured() async throws {
        let fixture = try Fixture()
        for mode in [CertificateVerification.noHostnameVerification, .fullVerification] {
            let refused = try await connect(fixture, mode, policy: fixture.otherPolicy)
            #expect(await refused.outcome().contains("handshake completed") == false)
            let accepted = try await connect(fixture, mode, policy: fixture.policy)
            #expect(await accepted.outcome() == ["handshake completed"])
        }
        // Control: with `.none` the callback's refusal has no effect, so this setting must be refused.
        let ignored = try await connect(fixture, .none, policy: fixture.otherPolicy)
        #expect(await ignored.outcome() == ["handshake completed"])
    }

    @Test("A handshake that ends without a verdict closes the channel")
    func noVerdict() throws {
        let fixture = try Fixture()
        let log = EventLog()
        let handlers = try PinnedTLS(policy: fixture.policy).handlers(for: fixture.endpoint).dropFirst()
        let channel = EmbeddedChannel(handlers: handlers + [RecordingHandler(log)])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        try channel.writeInbound(ByteBuffer(string: "from an unknown server"))
        #expect(log.texts == ["failed noVerdict", "inactive"])
        #expect(!channel.isActive)
    }

    @Test("A handshake that has failed cannot be completed later")
    func completedTooLate() throws {
        let fixture = try Fixture()
        let log = EventLog()
        let handlers = try PinnedTLS(policy: fixture.policy).handlers(for: fixture.endpoint).dropFirst()
        let channel = EmbeddedChannel(handlers: handlers + [RecordingHandler(log)])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        channel.pipeline.fireErrorCaught(ChannelError.inputClosed)
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        channel.embeddedEventLoop.run()
        #expect(log.texts == ["failed Input closed", "inactive"])
        #expect(!channel.isActive)
    }

    @Test("A stopped thread pool lets no server in")
    func stoppedPool() async throws {
        let fixture = try Fixture()
        let threads = NIOThreadPool(numberOfThreads: 1)
        let tls = try PinnedTLS(policy: fixture.policy, threads: threads)
        await #expect(throws: CancellationError.self) { try await tls.prepare() }
        let (_, log) = try await fixture.connect(tls)
        #expect(await log.outcome() == ["failed noVerdict", "inactive"])
        threads.start()
        try await tls.prepare()
        let (channel, second) = try await fixture.connect(tls)
        #expect(await second.outcome() == ["receipt pin-matched", "handshake completed"])
        try await channel.close()
        try await threads.shutdownGracefully()
    }

    @Test("Handlers are added on the event loop only")
    func notOnEventLoop() async throws {
        let fixture = try Fixture()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: Int(fixture.server.port)).get()
        let tls = try PinnedTLS(policy: fixture.policy)
        #expect(throws: PinnedTLSError.notOnEventLoop) { try tls.addHandlers(to: channel, for: fixture.endpoint) }
        // The twin, on a channel that is active already.
        let log = EventLog()
        try await channel.eventLoop.submit {
            try tls.addHandlers(to: channel, for: fixture.endpoint)
            try channel.pipeline.syncOperations.addHandler(RecordingHandler(log))
        }.get()
        #expect(await log.outcome().last == "handshake completed")
        try await channel.close()
    }

    private func only(_ version: NIOSSL.TLSVersion) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        (configuration.minimumTLSVersion, configuration.maximumTLSVersion) = (version, version)
        return configuration
    }

    /// Connects with NIOSSL's own handler and the callback, as a library like gRPC does.
    private func connect(
        _ fixture: Fixture, _ mode: CertificateVerification, policy: PinningPolicy
    ) async throws -> EventLog {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = mode
        let context = try NIOSSLContext(configuration: configuration)
        let callback = try PinnedTLS(policy: policy).verification(of: fixture.endpoint)
        let name = fixture.endpoint.host.isIPAddress ? nil : fixture.endpoint.host.description
        let log = EventLog()
        _ = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(
                        context: context, serverHostname: name, customVerificationCallbackWithMetadata: callback)
                    try channel.pipeline.syncOperations.addHandlers([handler, RecordingHandler(log)])
                }
            }
            .connect(host: "127.0.0.1", port: Int(fixture.server.port)).get()
        return log
    }
}
