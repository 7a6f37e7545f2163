import Pintle
import PintleAttacks
import PintleSystem
import PintleTestKit
import Synchronization
import Testing

@testable import PintleOpenSSL
@testable import PintleTLSClient

@Suite("Many handshakes on one thread")
struct HandshakeLoopTests {
    /// Runs a loop and returns the result of each handshake: `nil` for success, else the error's code.
    private func run(
        _ targets: [HandshakeTarget], via proxy: ProxyConfiguration = .none, atMost limit: Int = 100,
        configuration: TLSClient.Configuration = .init(connectTimeout: .seconds(60), handshakeTimeout: .seconds(60)),
        verdict: @escaping (borrowing PeerChain) -> HandshakeVerdict = { _ in .accept }
    ) throws -> [Int: HandshakeError.Code?] {
        var ends: [Int: HandshakeError.Code?] = [:]
        var rest = targets.enumerated().makeIterator()
        let loop = try HandshakeLoop(configuration, atMost: limit)
        let isDone = try loop.run(
            next: {
                rest.next().map { index, target in
                    HandshakeOrder(target, via: proxy, judge: verdict) { result in
                        #expect(ends[index] == nil, "\(index) ended twice")
                        switch result {
                        case .success(let connection):
                            connection.close()
                            ends[index] = .some(nil)
                        case .failure(let error): ends[index] = error.code
                        }
                    }
                }
            }, goesOn: { true })
        #expect(isDone)
        return ends
    }

    private func target(_ port: UInt16, host: String = "127.0.0.1") throws -> HandshakeTarget {
        try HandshakeTarget(host: host, port: port)
    }

    @Test("Each failure in a loop has the same code as in a single handshake", arguments: [1, 100])
    func sameErrors(limit: Int) throws {
        let server = try LoopbackTLSServer(TLSServerConfiguration(.init(.selfSigned())))
        let old = try LoopbackTLSServer(.selfSigned()) { $0.versions = .tls10 ... .tls11 }
        let slow = try LoopbackTLSServer(.selfSigned()) { $0.stall = .midHandshake(seconds: 60) }
        let plain = try ScriptedPeer { peer in
            peer.write("HTTP/1.1 400 Bad Request\r\n\r\n")
            peer.stream.stall(seconds: 60)
        }
        let closes = try ScriptedPeer { _ = $0.read(atMost: 1) }
        let resets = try ScriptedPeer { peer in
            _ = peer.read(atMost: 1)
            peer.stream.resetOnClose()
        }
        let oneByte = try ScriptedPeer { peer in
            peer.write([22])
            _ = peer.read(atMost: 1)
            peer.stream.stall(seconds: 60)
        }
        let silent = try SilentPort()
        let late = try [target(slow.port), target(oneByte.port), target(silent.port)]
        let targets = try [
            target(server.port), target(old.port), target(plain.port), target(closes.port), target(resets.port),
            target(unusedPort()),
            target(server.port, host: "localhost"), target(server.port, host: "nowhere.invalid"),
            target(server.port, host: "::1"),
        ]
        // Servers that never answer get a short time-out, and the others a long one for a busy machine.
        for (targets, time) in [(late, Duration.milliseconds(400)), (targets, .seconds(60))] {
            let configuration = TLSClient.Configuration(connectTimeout: time, handshakeTimeout: time)
            let together = try run(targets, atMost: limit, configuration: configuration)
            let client = try TLSClient(configuration)
            for (index, target) in targets.enumerated() {
                var alone: HandshakeError.Code?
                do { try client.connect(to: target) { _ in .accept }.close() } catch { alone = error.code }
                #expect(together[index] == .some(alone), "\(target.endpoint)")
            }
            if targets.count == late.count {
                #expect(together == [0: .handshakeTimeout, 1: .handshakeTimeout, 2: .connectTimeout])
            } else {
                #expect(together[0] == .some(nil) && together[6] == .some(nil))
            }
        }
    }

    @Test(
        "A refused server receives the alert, and no server receives data", arguments: [true, false])
    func verdict(isAccepted: Bool) throws {
        let server = try LoopbackTLSServer(TLSServerConfiguration(.init(.selfSigned())))
        let ends = try run(Array(repeating: target(server.port), count: 20)) { _ in
            isAccepted ? .accept : .reject(.unknownCA)
        }
        #expect(ends.count == 20)
        #expect(ends.values.allSatisfy { $0 == (isAccepted ? nil : .rejectedByVerifier) })
        #expect(server.waitUntilClosed(connections: 20))
        #expect(server.requestByteCount == 0)
        let alerts = server.alertsReceived.map(\.code)
        #expect(isAccepted ? !alerts.contains(48) : alerts == Array(repeating: 48, count: 20))
    }

    @Test("A chain beyond the limits is refused before it is parsed, while another one is accepted")
    func limits() throws {
        let identity = try CertificateAuthority.root().issue()
        let many = try LoopbackTLSServer(
            TLSServerConfiguration(.init(chain: Array(repeating: identity.chain[0], count: 129), key: identity.key)))
        let few = try LoopbackTLSServer(TLSServerConfiguration(.init(identity)))
        let ends = try run([target(many.port), target(few.port)])
        #expect(ends == [0: .limitsExceeded, 1: nil])
    }

    @Test("A loop keeps within its limit of concurrent handshakes")
    func bounded() throws {
        let open = Atomic(0)
        let most = Atomic(0)
        let server = try LoopbackTCPServer(maximumConnections: 64) { connection in
            let now = open.add(1, ordering: .relaxed).newValue
            most.max(now, ordering: .relaxed)
            connection.stall(seconds: 0.05)
            open.subtract(1, ordering: .relaxed)
        }
        let ends = try run(Array(repeating: target(server.port), count: 30), atMost: 5)
        #expect(ends.count == 30)
        // A closed connection may still be open on the server's side for a moment.
        #expect(most.load(ordering: .relaxed) <= 10)
    }

    @Test("A loop works through a proxy, and the proxy's refusal concerns only the refused server")
    func proxy() throws {
        let server = try LoopbackTLSServer(TLSServerConfiguration(.init(.selfSigned())))
        let port = server.port
        let proxy = try LoopbackProxy(.httpConnect) { host, _ in host == "no.test" ? nil : port }
        let way = ProxyConfiguration.http(try ServerEndpoint(host: ServerName("127.0.0.1"), port: proxy.port))
        let targets = try (0..<24).map { try target(443, host: "h\($0).test") } + [target(443, host: "no.test")]
        let ends = try run(targets, via: way)
        #expect(ends.count == 25)
        #expect(ends[24] == .proxyRefused)
        #expect((0..<24).allSatisfy { ends[$0] == .some(nil) })
    }

    @Test("A stopped loop drops the pending handshakes and returns false")
    func stopped() throws {
        let server = try LoopbackTCPServer { $0.stall(seconds: 60) }
        var turns = 0
        var orders = 0
        let target = try target(server.port)
        let loop = try HandshakeLoop(
            TLSClient.Configuration(handshakeTimeout: .seconds(3_600)), atMost: 3)
        let isDone = try loop.run(
            next: {
                orders += 1
                return HandshakeOrder(target, via: .none, judge: { _ in .accept }) { _ in Issue.record("it ended") }
            },
            goesOn: {
                turns += 1
                return turns < 8
            })
        #expect(!isDone)
        #expect(orders == 3)
    }

    @Test("A loop calls goesOn after every verdict, even if many servers are ready")
    func asked() throws {
        let server = try LoopbackTLSServer(TLSServerConfiguration(.init(.selfSigned())))
        let target = try target(server.port)
        for stopsAtOnce in [false, true] {
            var rest = 12
            var (verdicts, sinceAsked, most) = (0, 0, 0)
            let loop = try HandshakeLoop(
                TLSClient.Configuration(handshakeTimeout: .seconds(60)), atMost: 12)
            let isDone = try loop.run(
                next: {
                    rest -= 1
                    guard rest >= 0 else { return nil }
                    return HandshakeOrder(target, via: .none) { _ in
                        verdicts += 1
                        sinceAsked += 1
                        most = max(most, sinceAsked)
                        // Meanwhile the other servers become ready.
                        usleep(20_000)
                        return .accept
                    } ended: { result in
                        if case .success(let connection) = result { connection.close() }
                    }
                },
                goesOn: {
                    sinceAsked = 0
                    return !stopsAtOnce || verdicts == 0
                })
            #expect(isDone == !stopsAtOnce)
            #expect(most == 1)
            #expect(verdicts == (stopsAtOnce ? 1 : 12))
        }
    }

    @Test("A name with many silent addresses uses two sockets, and its last address is reached", arguments: [2, .max])
    func sockets(limit: Int) throws {
        let silent = try SilentPort()
        let server = try LoopbackTCPServer { $0.stall(seconds: 0.1) }
        let host = try ServerName("127.0.0.1")
        func address(_ port: UInt16) throws -> [SocketAddress] {
            try SocketAddress.resolve(ServerEndpoint(host: host, port: port), as: .server)
        }
        let addresses = try (0..<4).flatMap { _ in try address(silent.port) } + address(server.port)
        var connector = TCPConnector(
            to: ServerEndpoint(host: host, port: 443), at: addresses, as: .server, timeout: .seconds(60), atMost: limit)
        var most = 0
        while true {
            if try connector.advance() != nil { break }
            most = max(most, connector.waiting.count)
            var entries = connector.waiting.map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
            poll(&entries, nfds_t(entries.count), connector.wake.remainingMilliseconds)
        }
        #expect(limit == 2 ? most == 2 : most > 3)
    }
}
