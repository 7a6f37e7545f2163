import Pintle
import PintleTestKit
import PintleTestPeers
import Testing

@testable import PintleOpenSSL
@testable import PintleTLSClient

@Suite("Handshakes that fail")
struct HandshakeFailureTests {
    /// Connects with long time-outs, for tests that are not about time: the machine may be busy.
    private func connect(
        to port: UInt16, host: String = "127.0.0.1", timeout: Duration = .seconds(10)
    ) throws -> TLSConnection {
        try TLSClient(.init(connectTimeout: timeout, handshakeTimeout: timeout))
            .connect(to: HandshakeTarget(host: host, port: port)) { _ in .accept }
    }

    @Test(
        "The error for a server without TLS quotes its answer, escaped for the terminal",
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
        "Suites with finite-field Diffie-Hellman are not offered, and those with elliptic curves are",
        arguments: [("DHE-RSA-AES128-GCM-SHA256", false), ("ECDHE-RSA-AES128-GCM-SHA256", true)])
    func finiteField(suite: String, isOffered: Bool) throws {
        let identity = try CertificateAuthority.root().issue(keyType: .rsa(bits: 2_048))
        let server = try SServer(identity, ["-tls1_2", "-cipher", suite])
        if isOffered {
            #expect(try connect(to: server.port).tls.cipherSuite.hasPrefix("TLS_ECDHE_RSA_"))
        } else {
            let error = expectFailure(.tlsAlert) { try connect(to: server.port) }
            #expect(error?.isBeforeCertificate == true)
        }
    }

    @Test("A server that closes has another error than one that stalls")
    func closes() throws {
        let peer = try ScriptedPeer { _ = $0.read() }
        let error = expectFailure(.closedDuringHandshake) { try connect(to: peer.port) }
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A server that stalls causes a time-out whose hint names the flag to raise it")
    func stalls() throws {
        let peer = try ScriptedPeer { _ = $0.read(exactly: 1_000_000) }
        let start = ContinuousClock.now
        let error = expectFailure(.handshakeTimeout) { try connect(to: peer.port, timeout: .milliseconds(300)) }
        #expect(ContinuousClock.now - start >= .milliseconds(300))
        #expect(error?.message == "127.0.0.1:\(peer.port) did not finish the TLS handshake within 0.3 s")
        #expect(error?.hint?.contains("--handshake-timeout") == true)
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A server that sends one byte at a time does not extend the time-out")
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

    @Test("A server that sends without pause does not extend the time-out")
    func floodsInTime() throws {
        let peer = try floodingPeer()
        let client = try TLSClient(.init(connectTimeout: .seconds(10), handshakeTimeout: .milliseconds(10)))
        let target = try HandshakeTarget(host: "127.0.0.1", port: peer.port)
        let error = expectFailure(.handshakeTimeout) { try client.connect(to: target) { _ in .accept } }
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A server that sends without end is disconnected after 8 MiB")
    func floodsInBytes() throws {
        let peer = try floodingPeer()
        let error = expectFailure(.handshakeFailed) { try connect(to: peer.port, timeout: .seconds(60)) }
        #expect(error?.message.hasSuffix("sent more than 8 MiB without ending the TLS handshake") == true)
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A server may send a hundred HelloRequests before the handshake")
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

    /// Sends HelloRequests without end. TLS 1.2 lets a client ignore them (RFC 5246 section 7.4.1.1).
    private func floodingPeer() throws -> ScriptedPeer {
        let flood = Array(repeating: FakeTLS.helloRequest, count: 10_000).flatMap(\.self)
        return try ScriptedPeer { peer in
            _ = peer.read()
            while peer.write(flood) {}
        }
    }

    @Test("The error names the server's alert")
    func alert() throws {
        let peer = try ScriptedPeer { peer in
            _ = peer.read()
            peer.write([21, 3, 3, 0, 2, 2, 112])
        }
        let error = expectFailure(.tlsAlert) { try connect(to: peer.port) }
        #expect(error?.alert == "unrecognized_name")
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("TLS 1.1 has its own error, whichever side refuses it")
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

    @Test("A closed port is an error with the number of addresses tried")
    func nothingListens() throws {
        let port = try unusedPort()
        let error = expectFailure(.connectionRefused) { try connect(to: port) }
        #expect(error?.message == "cannot reach 127.0.0.1:\(port): connection refused (tried 1 address)")
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A silent address causes a time-out whose hint names the flag to raise it")
    func silentAddress() throws {
        let silent = try SilentPort()
        let error = expectFailure(.connectTimeout) { try connect(to: silent.port, timeout: .milliseconds(300)) }
        #expect(
            error?.message
                == "cannot reach 127.0.0.1:\(silent.port): no answer within 0.3 s (tried 1 address)")
        #expect(error?.hint?.contains("--connect-timeout") == true)
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("A name that does not resolve has its own error")
    func unresolvable() throws {
        let error = expectFailure(.nameNotResolved) { try connect(to: 443, host: "nothing.invalid") }
        #expect(error?.message.contains("nothing.invalid") == true)
        #expect(error?.isBeforeCertificate == true)
    }

    @Test("Malformed certificates count as having arrived")
    func malformed() throws {
        let good = try Identity.selfSigned().certificate.der
        for list in [[[0x30, 0x03, 1, 2, 3]], [good, Array(good.dropLast())], [good + [0]], []] {
            let peer = try FakeTLS.server(FakeTLS.certificateMessage(list))
            let error = expectFailure(.malformedCertificate) { try connect(to: peer.port) }
            #expect(error?.isBeforeCertificate == false)
        }
    }

    @Test("More than 4 MiB of certificates are refused as soon as their length is announced")
    func tooLarge() throws {
        let announced = ContextRestriction.certificateListLimit + 1
        let header = [11, UInt8(announced >> 16), UInt8(announced >> 8 & 0xFF), UInt8(announced & 0xFF)]
        let peer = try FakeTLS.server(header)
        let error = expectFailure(.limitsExceeded) { try connect(to: peer.port) }
        #expect(error?.isBeforeCertificate == false)
    }

    @Test("128 certificates are judged, and 129 are refused before they are parsed")
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

    @Test("10,000 certificates are refused quickly in TLS 1.2 and 1.3", arguments: [false, true])
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

    @Test("A chain of 270 kB is judged if it is recorded, and refused if a server presents it")
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

    @Test("The guard leaves a truncated Certificate message to OpenSSL")
    func cutOff() {
        let message = FakeTLS.certificateMessage([[1, 2, 3], [4, 5, 6]])
        for count in 0...message.count {
            #expect(Self.excess(in: Array(message.prefix(count)), isTLS13: false) == nil)
            #expect(Self.excess(in: Array(message.prefix(count)), isTLS13: true) == nil)
        }
    }

    @Test("A too large certificate is refused even if the message ends after it", arguments: [0, 1])
    func cutOffBehindALimit(excess: Int) {
        let size = 262_144 + excess
        // A TLS 1.3 message that lacks the extensions after the certificate. OpenSSL parses the certificate before it
        // notices.
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

    @Test("A server that cannot prove possession of its key gets no connection")
    func noProofOfPossession() throws {
        let der = try Identity.selfSigned(keyType: .rsa2048).certificate.der
        // ECDHE_RSA parameters with an invalid signature.
        let exchange: [UInt8] =
            [3, 0, 29, 32] + Array(repeating: 9, count: 32) + [8, 4, 1, 0] + Array(repeating: 1, count: 256)
        let peer = try FakeTLS.server(
            FakeTLS.certificateMessage([der]) + FakeTLS.message(12, exchange) + FakeTLS.message(14, []))
        let error = expectFailure(.handshakeFailed) { try connect(to: peer.port) }
        #expect(error?.isBeforeCertificate == false)
    }

    @Test("A connection that ends without close_notify is an error, not a complete answer")
    func truncation() throws {
        let server = try SServer(.selfSigned(), ["-tls1_3"])
        let port = server.port
        // Relays the handshake, then drops the connection at the request.
        let wire = Wire()
        let relay = try ScriptedPeer { $0.relay(to: port, watchedBy: wire) }
        let connection = try connect(to: relay.port)
        wire.cut()
        try connection.write(Array("GET / HTTP/1.0\r\n\r\n".utf8))
        let error = #expect(throws: HandshakeError.self) { try connection.readAll() }
        #expect(error?.code == .truncated)
        withExtendedLifetime(server) {}
    }

    @Test("Writing to a closed connection is an error and does not end the process")
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
