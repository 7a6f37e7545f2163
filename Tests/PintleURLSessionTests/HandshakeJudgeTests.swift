import COpenSSL
import Foundation
import Glibc
import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleOpenSSL
@testable import PintleURLSession

/// A judge on a context as libcurl makes it, with a client that does what libcurl never does.
@Suite("The judge of a session's connections")
struct HandshakeJudgeTests {
    private let fixture: SessionFixture
    private let server: LoopbackTLSServer
    private let client: BareTLSClient

    init() throws {
        fixture = try SessionFixture()
        server = try fixture.server()
        client = try BareTLSClient()
    }

    /// Returns a judge of `localhost`, installed on a client's context.
    private func judge(
        rightPin: Bool = true, on other: BareTLSClient? = nil, at server: LoopbackTLSServer? = nil,
        reading limits: ReadLimits = ReadLimits()
    ) throws -> (HandshakeJudge, PolicyGeneration) {
        let policy = try fixture.policy(rightPin: rightPin)
        let generation = PolicyGeneration(policy.current, of: policy, validator: PathValidator())
        let judge = HandshakeJudge(
            of: ServerEndpoint(host: try ServerName("localhost"), port: (server ?? self.server).port), in: generation,
            receipts: .written, reading: ReadBudget(limits, countedBy: TurnCounter()))
        #expect(judge.install(on: (other ?? client).context))
        return (judge, generation)
    }

    @Test("SNI for another server than the transfer's ends the handshake", arguments: ["localhost", "127.0.0.1"])
    func otherName(sent: String) throws {
        let (judge, _) = try judge()
        let isConnected = try client.connect(to: server.port, naming: sent)
        let ssl = try #require(client.ssl)
        #expect(isConnected == (sent == "localhost"))
        #expect(server.requestByteCount == 0)
        #expect(judge.state == (isConnected ? .accepted : .failed(.otherName)))
        #expect((ConnectionReceipt.attached(to: ssl) != nil) == isConnected)
        // The certificates were readable, so they are not the reason for the failure.
        #expect(judge.cause == (isConnected ? nil : .notJudged))
    }

    @Test("A judge makes a context that ignored refusals obey them", arguments: [true, false])
    func ignoredRefusal(rightPin: Bool) throws {
        SSL_CTX_set_verify(client.context, SSL_VERIFY_NONE, nil)
        let (judge, _) = try judge(rightPin: rightPin)
        #expect(try client.connect(to: server.port, naming: "localhost") == rightPin)
        #expect(judge.cause?.rejection?.reason == (rightPin ? nil : "pin-mismatch"))
    }

    @Test(
        "A second chain on a connection removes its receipt, so that it carries no request",
        arguments: [true, false])
    func askedTwice(isAttacked: Bool) throws {
        let (judge, generation) = try judge()
        #expect(try client.connect(to: server.port, naming: "localhost"))
        let ssl = try #require(client.ssl)
        let endpoint = ServerEndpoint(host: try ServerName("localhost"), port: server.port)
        #expect(ConnectionReceipt.attached(to: ssl)?.allows(endpoint, in: generation, at: Date()) == true)
        if isAttacked {
            let error = try client.withAnotherChain(fixture.identity.certificate.der) { store in
                #expect(VerificationHook.answer(store) == 0)
                return X509_STORE_CTX_get_error(store)
            }
            #expect(error == X509_V_ERR_UNSPECIFIED)
        }
        #expect(judge.state == (isAttacked ? .failed(.askedTwice) : .accepted))
        #expect(judge.cause == (isAttacked ? .notJudged : nil))
        #expect((ConnectionReceipt.attached(to: ssl) == nil) == isAttacked)
    }

    @Test(
        "A server is early if it sends content, or so many messages that the look for content cannot reach the end",
        arguments: [(1, 0, false), (1, 4_096, true), (100, 0, true)])
    func early(messages: Int, content: Int, isEarly: Bool) throws {
        let server = try fixture.server(stream: { stream in
            try? (stream as? TLSServerConnection)?.updateKeys(times: messages)
            if content > 0 { try? stream.write([UInt8](repeating: 0x78, count: content)) }
            while let piece = try? stream.read(upTo: 1), !piece.isEmpty {}
        })
        // The handshake uses up the only turn.
        var limits = ReadLimits()
        limits.perTurn = 64
        let (judge, _) = try judge(at: server, reading: limits)
        #expect(try client.connect(to: server.port, naming: "localhost"))
        let ssl = try #require(client.ssl)
        let socket = SSL_get_fd(ssl)
        // The encrypted records are longer.
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        let size = 20 * messages + content
        for _ in 0..<1_000 where recv(socket, &buffer, buffer.count, CInt(MSG_PEEK)) < size { usleep(5_000) }
        #expect(judge.hasEarlyContent(on: ssl, from: socket) == isEarly)
    }

    @Test("The context keeps the judge alive even after the transfer that made the connection has ended")
    func lifetime() throws {
        weak var kept: HandshakeJudge?
        var client: BareTLSClient? = try BareTLSClient()
        do {
            let (judge, _) = try judge(on: client)
            kept = judge
        }
        #expect(try client?.connect(to: server.port, naming: "localhost") == true)
        #expect(kept?.state == .accepted)
        client?.end()
        #expect(kept?.state == .accepted)
        client = nil
        #expect(kept == nil)
    }
}

extension HandshakeJudge.Cause {
    fileprivate var rejection: TrustRejection? {
        guard case .rejected(let rejection) = self else { return nil }
        return rejection
    }
}
