import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleOpenSSL

@Suite("Handshakes that fail")
struct HandshakeFailureTests {
    /// Where it is not about time, the limits are wide: the machine may be busy.
    private func connect(
        to port: UInt16, host: String = "127.0.0.1", timeout: Duration = .seconds(10)
    ) throws -> TLSConnection {
        try TLSClient(.init(timeouts: .init(connect: timeout, handshake: timeout)))
            .connect(to: HandshakeTarget(host: host, port: port)) { _ in .accept }
    }

    @Test(
        "A server that does not speak TLS is named by what it says, and cannot write on the terminal",
        arguments: [
            (
                "HTTP/1.1 400 Bad\u{1B}[31m Request\r\n\r\n",
                "answered in plain HTTP (\"HTTP/1.1 400 Bad?[31m Request\")"
            ),
            ("SSH-2.0-OpenSSH_9.2\r\n", "answered in SSH (\"SSH-2.0-OpenSSH_9.2\")"),
            ("220 mail.example ESMTP\r\n", "answered in SMTP or FTP (\"220 mail.example ESMTP\")"),
            ("\u{16}\u{01}", "answered (\"??\")"),
        ])
    func notTLS(greeting: String, description: String) throws {
        let peer = try ScriptedPeer { peer in
            _ = peer.read()
            peer.write(greeting)
        }
        let error = expectFailure(.notTLS) { try connect(to: peer.port) }
        #expect(error?.isBeforeCertificate == true)
        #expect(error?.message == "127.0.0.1:\(peer.port) does not speak TLS: it \(description)")
    }

    @Test(
        "A suite with a Diffie-Hellman group of the server's choice is not offered; an elliptic curve is",
        arguments: [("DHE-RSA-AES128-GCM-SHA256", false), ("ECDHE-RSA-AES128-GCM-SHA256", true)])
    func finiteField(suite: String, isOffered: Bool) throws {
        let identity = try CertificateAuthority.root().issue(keyType: .rsa(bits: 2_048))
        let server = try SServer(identity, ["-tls1_2", "-cipher", suite])
        if isOffered {
            #expect(try connect(to: server.port).cipher.hasPrefix("TLS_ECDHE_RSA_"))
        } else {
            let error = expectFailure(.tlsAlert) { try connect(to: server.port) }
            #expect(error?.isBeforeCertificate == true)
        }
    }

    @Test("A server that closes is told apart from one that stalls")
    func closes() throws {
        let peer = try ScriptedPeer { _ = $0.read() }
        let error = expectFailure(.closedDuringHandshake) { try connect(to: peer.port) }
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A server that stalls is left when the time-out is over, and the flag to raise it is named")
    func stalls() throws {
        let peer = try ScriptedPeer { _ = $0.read(exactly: 1_000_000) }
        let start = ContinuousClock.now
        let error = expectFailure(.handshakeTimeout) { try connect(to: peer.port, timeout: .milliseconds(300)) }
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        #expect(error?.message == "127.0.0.1:\(peer.port) did not finish the TLS handshake within 0.3 s")
        #expect(error?.hint?.contains("--handshake-timeout") == true)
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A server that sends a byte at a time does not get more time for it")
    func drips() throws {
        let peer = try ScriptedPeer { peer in
            _ = peer.read()
            for byte in FakeTLS.records(FakeTLS.serverHello) {
                guard peer.write([byte]) else { return }
                FakeTLS.pause(milliseconds: 50)
            }
        }
        let start = ContinuousClock.now
        _ = expectFailure(.handshakeTimeout) { try connect(to: peer.port, timeout: .milliseconds(300)) }
        #expect(ContinuousClock.now - start < .seconds(3))
    }

    @Test("A server that talks without end gets no more time for it")
    func floodsInTime() throws {
        let peer = try floodingPeer()
        let client = try TLSClient(.init(timeouts: .init(connect: .seconds(10), handshake: .milliseconds(10))))
        let target = try HandshakeTarget(host: "127.0.0.1", port: peer.port)
        let error = expectFailure(.handshakeTimeout) { try client.connect(to: target) { _ in .accept } }
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A server that talks without end is left after 8 MiB")
    func floodsInBytes() throws {
        let peer = try floodingPeer()
        let error = expectFailure(.handshakeFailed) { try connect(to: peer.port, timeout: .seconds(60)) }
        #expect(error?.message.hasSuffix("sent more than 8 MiB without ending the TLS handshake") == true)
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A server that says hello a hundred times before it begins is spoken to")
    func talksFirst() throws {
        let server = try SServer(.selfSigned(), ["-tls1_2"])
        let port = server.port
        let peer = try ScriptedPeer { peer in
            for _ in 0..<100 { peer.write(FakeTLS.helloRequest) }
            peer.relay(to: port)
        }
        let connection = try connect(to: peer.port)
        try connection.write(Array("GET / HTTP/1.0\r\n\r\n".utf8))
        #expect(String(decoding: try connection.readAll(), as: UTF8.self).hasPrefix("HTTP/1.0 200"))
        withExtendedLifetime(server) {}
    }

    /// Sends HelloRequests for ever, which TLS 1.2 lets a client pass over (RFC 5246 section 7.4.1.1).
    private func floodingPeer() throws -> ScriptedPeer {
        let flood = Array(repeating: FakeTLS.helloRequest, count: 10_000).flatMap(\.self)
        return try ScriptedPeer { peer in
            _ = peer.read()
            while peer.write(flood) {}
        }
    }

    @Test("An alert of the server is named")
    func alert() throws {
        let peer = try ScriptedPeer { peer in
            _ = peer.read()
            peer.write([21, 3, 3, 0, 2, 2, 112])
        }
        let error = expectFailure(.tlsAlert) { try connect(to: peer.port) }
        #expect(error?.alert == "unrecognized_name")
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("TLS 1.1 is refused with a name of its own, whoever notices it first")
    func oldVersion() throws {
        let old = FakeTLS.serverHello(version: [3, 1])
        let server = try ScriptedPeer { peer in
            _ = peer.read()
            peer.write(FakeTLS.records(old))
            _ = peer.read()
        }
        _ = expectFailure(.protocolVersion) { try connect(to: server.port) }
        let client = try ScriptedPeer { peer in
            _ = peer.read()
            peer.write([21, 3, 3, 0, 2, 2, 70])
        }
        _ = expectFailure(.protocolVersion) { try connect(to: client.port) }
    }

    @Test("A port where nothing listens is refused, and the addresses are counted")
    func nothingListens() throws {
        let port = try unusedPort()
        let error = expectFailure(.connectionRefused) { try connect(to: port) }
        #expect(error?.message == "cannot reach 127.0.0.1:\(port): connection refused (tried 1 address)")
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("An address that stays silent is left when the time-out is over, and the flag to raise it is named")
    func silentAddress() throws {
        let silent = try SilentPort()
        let error = expectFailure(.connectTimeout) { try connect(to: silent.port, timeout: .milliseconds(300)) }
        #expect(
            error?.message
                == "cannot reach 127.0.0.1:\(silent.port): no answer within 0.3 s (tried 1 address)")
        #expect(error?.hint?.contains("--connect-timeout") == true)
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A name that does not resolve is an error of its own")
    func unresolvable() throws {
        let error = expectFailure(.nameNotResolved) { try connect(to: 443, host: "nothing.invalid") }
        #expect(error?.message.contains("nothing.invalid") == true)
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("Certificates that cannot be parsed have arrived all the same")
    func malformed() throws {
        let good = try Identity.selfSigned().certificate.der
        for list in [[[0x30, 0x03, 1, 2, 3]], [good, Array(good.dropLast())], [good + [0]], []] {
            let peer = try FakeTLS.server(FakeTLS.certificateMessage(list))
            let error = expectFailure(.malformedCertificate) { try connect(to: peer.port) }
            #expect(error?.isBeforeCertificate == false)
        }
    }

    @Test("More than 4 MiB of certificates is refused as soon as it is announced")
    func tooLarge() throws {
        let announced = ContextRestriction.certificateListLimit + 1
        let header = [11, UInt8(announced >> 16), UInt8(announced >> 8 & 0xFF), UInt8(announced & 0xFF)]
        let peer = try FakeTLS.server(header)
        let error = expectFailure(.limitsExceeded) { try connect(to: peer.port) }
        #expect(error?.isBeforeCertificate == false)
    }

    @Test("128 certificates are judged, 129 are refused unread")
    func countLimit() throws {
        let der = try Identity.selfSigned().certificate.der
        for count in [128, 129] {
            let peer = try FakeTLS.server(FakeTLS.certificateMessage(Array(repeating: der, count: count)))
            var judged: Int?
            let error = expectFailure(count == 128 ? .rejectedByVerifier : .limitsExceeded) {
                try TLSClient().connect(to: HandshakeTarget(host: "127.0.0.1", port: peer.port)) { chain in
                    judged = chain.certificates.count
                    return .reject(.badCertificate)
                }
            }
            #expect(judged == (count == 128 ? 128 : nil))
            #expect(error?.isBeforeCertificate == false)
        }
    }

    @Test("10,000 certificates, all in TLS 1.2 and in 1.3, are refused at once", arguments: [false, true])
    func tenThousand(isTLS13: Bool) throws {
        let der = try Identity.selfSigned(keyType: .ed25519).certificate.der
        let entry = FakeTLS.sized(der) + (isTLS13 ? [0, 0] : [])
        var list: [UInt8] = []
        for _ in 0..<10_000 { list += entry }
        let message = FakeTLS.message(11, (isTLS13 ? [0] : []) + FakeTLS.sized(list))
        #expect(Self.excess(in: message, isTLS13: isTLS13) == "more than 128 certificates")
        guard !isTLS13 else { return }
        let peer = try FakeTLS.server(message)
        let error = expectFailure(.limitsExceeded) { try connect(to: peer.port) }
        #expect(error?.message.hasSuffix("presents more than 128 certificates") == true)
    }

    @Test("A live server may present 256 KiB of certificates", arguments: [false, true])
    func sizeLimits(isTLS13: Bool) {
        func excess(_ sizes: [Int]) -> String? {
            var list: [UInt8] = []
            for size in sizes {
                list += FakeTLS.sized(Array(repeating: 0, count: size))
                list += isTLS13 ? [0, 0] : []
            }
            return Self.excess(in: FakeTLS.message(11, (isTLS13 ? [0] : []) + FakeTLS.sized(list)), isTLS13: isTLS13)
        }
        #expect(excess([262_144]) == nil)
        #expect(excess([262_145]) == "a certificate of 262145 bytes, more than 262144")
        #expect(excess(Array(repeating: 65_536, count: 4)) == nil)
        #expect(excess(Array(repeating: 65_536, count: 4) + [1]) == "more than 262144 bytes of certificates")
    }

    @Test("A chain of 270 kB is judged where it was recorded, and refused where a server presents it")
    func recordedAndLive() throws {
        let root = try CertificateAuthority.root()
        let identity = try root.issue(hosts: [Validation.host])
        let filler = try root.issue(hosts: (0..<2_200).map { "n\($0).a-name-of-some-length.example.test" })
        for count in [2, 3] {
            let chain = [identity.certificate.der] + Array(repeating: filler.certificate.der, count: count)
            #expect((chain.reduce(0) { $0 + $1.count } > 262_144) == (count == 3))
            #expect(try Validation.decide(chain, anchors: [root.certificate]).summary == "host-not-pinned")
            let peer = try FakeTLS.server(FakeTLS.certificateMessage(chain))
            let error = expectFailure(count == 2 ? .rejectedByVerifier : .limitsExceeded) {
                try TLSClient().connect(to: HandshakeTarget(host: "127.0.0.1", port: peer.port)) { _ in
                    .reject(.badCertificate)
                }
            }
            if count == 3 {
                #expect(error?.message.hasSuffix("presents more than 262144 bytes of certificates") == true)
            }
        }
    }

    @Test("A Certificate message that is cut off is left to OpenSSL")
    func cutOff() {
        let message = FakeTLS.certificateMessage([[1, 2, 3], [4, 5, 6]])
        for count in 0...message.count {
            #expect(Self.excess(in: Array(message.prefix(count)), isTLS13: false) == nil)
            #expect(Self.excess(in: Array(message.prefix(count)), isTLS13: true) == nil)
        }
    }

    @Test("A certificate that is too large is refused also where the message ends behind it", arguments: [0, 1])
    func cutOffBehindALimit(excess: Int) {
        let size = 262_144 + excess
        // A message of TLS 1.3 without the extensions that follow each certificate: OpenSSL parses the certificate first.
        let list = [0x04, 0x00, UInt8(3 + excess)] + [0x04, 0x00, UInt8(excess)] + [UInt8](repeating: 0, count: size)
        let found = Self.excess(in: [11, 0x04, 0x00, UInt8(7 + excess), 0] + list, isTLS13: true)
        #expect(found == (excess == 0 ? nil : "a certificate of \(size) bytes, more than 262144"))
    }

    private static func excess(in message: [UInt8], isTLS13: Bool) -> String? {
        message.withUnsafeBytes { bytes -> String? in
            do throws(PathFailure) {
                _ = try CertificateMessageGuard.certificates(in: bytes, isTLS13: isTLS13)
                return nil
            } catch {
                return error.primary.text
            }
        }
    }

    @Test("A server that cannot prove that the key is its own gives no connection, accepted or not")
    func noProofOfPossession() throws {
        let der = try Identity.selfSigned(keyType: .rsa2048).certificate.der
        // ECDHE_RSA parameters with a signature that is none.
        let exchange: [UInt8] =
            [3, 0, 29, 32] + Array(repeating: 9, count: 32) + [8, 4, 1, 0] + Array(repeating: 1, count: 256)
        let peer = try FakeTLS.server(
            FakeTLS.certificateMessage([der]) + FakeTLS.message(12, exchange) + FakeTLS.message(14, []))
        let error = expectFailure(.handshakeFailed) { try connect(to: peer.port) }
        #expect(error?.isBeforeCertificate == false)
    }

    @Test("A connection that ends without close_notify is not mistaken for a complete answer")
    func truncation() throws {
        let server = try SServer(.selfSigned(), ["-tls1_3"])
        let port = server.port
        // Lets the handshake through and drops the connection at the request.
        let wire = Wire()
        let relay = try ScriptedPeer { $0.relay(to: port, watchedBy: wire) }
        let connection = try connect(to: relay.port)
        wire.cut()
        try connection.write(Array("GET / HTTP/1.0\r\n\r\n".utf8))
        let error = #expect(throws: HandshakeError.self) { try connection.readAll() }
        #expect(error?.code == .truncated)
        withExtendedLifetime(server) {}
    }

    @Test("Writing to a server that has gone is an error, and not the end of the process")
    func brokenPipe() throws {
        let server = try SServer(.selfSigned(), ["-tls1_3"])
        let port = server.port
        let wire = Wire()
        let relay = try ScriptedPeer { $0.relay(to: port, watchedBy: wire) }
        let connection = try connect(to: relay.port)
        wire.cut()
        let error = #expect(throws: HandshakeError.self) {
            for _ in 0..<1_000 {
                try connection.write([1])
                FakeTLS.pause(milliseconds: 5)
            }
        }
        #expect(error?.code == .truncated)
        withExtendedLifetime(server) {}
    }
}
