import NIOCore
import NIOPosix
import Pintle
import PintleNIO
import Synchronization
import Testing

/// Servers that BoringSSL refuses before it asks for a verdict.
@Suite("Certificates that never reach the policy")
struct RawServerTests {
    @Test("Garbage instead of a certificate is refused with a reason, and told", arguments: [1, 2_000])
    func garbage(count: Int) async throws {
        let list = Self.entry([UInt8](repeating: 0x30, count: count))
        #expect(try await refusal(of: list) == ["rejected invalid-path malformed-certificate", "inactive"])
    }

    @Test("Certificates beyond BoringSSL's limit are refused with a reason, and told")
    func oversized() async throws {
        let list = Self.entry([UInt8](repeating: 0x30, count: 200_000))
        #expect(try await refusal(of: list) == ["rejected invalid-path limits-exceeded", "inactive"])
    }

    @Test("A wrong length of a certificate is refused with a reason, and told")
    func wrongLength() async throws {
        #expect(try await refusal(of: [0, 0, 9, 0x30]) == ["rejected invalid-path malformed-certificate", "inactive"])
    }

    @Test("A message that is no Certificate message is an error of NIOSSL, not of the policy")
    func notACertificateMessage() async throws {
        let outcome = try await refusal(of: [], told: [])
        #expect(outcome.first?.hasPrefix("failed handshakeFailed") == true)
        #expect(outcome.last == "inactive")
    }

    /// - Parameter list: the entries of the Certificate message.
    private func refusal(of list: [UInt8], told expected: [String] = ["invalid-path"]) async throws -> [String] {
        let flight = Self.serverHello + Self.message(11, Self.length(list.count) + list)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FlightHandler(Self.records(flight)))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let fixture = try Fixture()
        let told = Mutex<[String]>([])
        let tls = try PinnedTLS(policy: fixture.policy).onFailure { failure in
            told.withLock { $0.append(failure.reason) }
        }
        let port = UInt16(server.localAddress?.port ?? 0)
        let outcome = try await Fixture.connect(tls, fixture.endpoint, port: port).log.outcome()
        #expect(told.withLock { $0 } == expected)
        try await server.close()
        return outcome
    }

    // MARK: TLS 1.2 (RFC 5246 section 7.4)

    /// A ServerHello for TLS 1.2 and ECDHE_ECDSA_WITH_AES_128_GCM_SHA256.
    private static var serverHello: [UInt8] {
        message(2, [3, 3] + [UInt8](repeating: 7, count: 32) + [0, 0xC0, 0x2B, 0])
    }

    private static func entry(_ certificate: [UInt8]) -> [UInt8] { length(certificate.count) + certificate }
    private static func message(_ type: UInt8, _ body: [UInt8]) -> [UInt8] { [type] + length(body.count) + body }

    private static func length(_ count: Int) -> [UInt8] {
        [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF)]
    }

    /// Splits handshake messages into records of at most 16 KiB.
    private static func records(_ bytes: [UInt8]) -> [UInt8] {
        stride(from: 0, to: bytes.count, by: 16_384).flatMap { start in
            let part = bytes[start..<min(start + 16_384, bytes.count)]
            return [22, 3, 3] + length(part.count).dropFirst() + part
        }
    }
}

/// Answers the first bytes of a client with a fixed flight.
private final class FlightHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private var flight: [UInt8]?

    init(_ flight: [UInt8]) { self.flight = flight }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let flight else { return }
        self.flight = nil
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: flight)), promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
