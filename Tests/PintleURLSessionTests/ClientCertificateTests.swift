import Foundation
import FoundationNetworking
import PintleAttacks
import PintleOpenSSL
import PintleTestKit
import PintleTestPeers
import Synchronization
import Testing

@testable import PintleEvents
@testable import PintleStorage
@testable import PintleURLSession

/// Servers that ask for a client certificate. Each refusal has a twin in which the same server gets the identity.
@Suite("Pinned sessions: client certificates")
struct ClientCertificateTests {
    /// A server's authority, and another one for clients.
    struct Fixture: Sendable {
        let servers: SessionFixture
        let clients: CertificateAuthority
        let client: Identity
        let identity: ClientIdentity

        init(configure: (inout CertificateTemplate) -> Void = { _ in }) throws {
            servers = try SessionFixture()
            let root = try CertificateAuthority.root(name: "Client Root")
            clients = try root.intermediate(name: "Client Authority")
            client = try clients.issueClient(configure: configure)
            identity = try Self.identity(client)
        }

        static func identity(_ client: Identity) throws -> ClientIdentity {
            let pem = client.chainPEM + client.key.pem
            return try ClientIdentity(certificates: pem.utf8, key: pem.utf8)
        }

        func server(
            isRequired: Bool = true, refusesAll: Bool = false, presenting identity: Identity? = nil,
            version: LoopbackTLSServer.Version? = nil, protocols: [String] = ["http/1.1"],
            application: TLSServerConfiguration.Application = .http { _ in .ok }
        ) throws -> LoopbackTLSServer {
            try LoopbackTLSServer(identity ?? servers.identity) { configuration in
                configuration.clientCertificateQuestion = .init(
                    isRequired: isRequired, authorities: [clients.certificate], refusesAll: refusesAll)
                if let version { configuration.versions = version...version }
                configuration.applicationProtocols = protocols
                configuration.application = application
            }
        }

        func session(
            _ source: some PolicySource, configuration: URLSessionConfiguration = .ephemeral,
            observer: (any TrustEventObserver)? = nil, system: SystemAnchors = .shared, _ identity: ClientIdentity?
        ) -> PinnedURLSession {
            PinnedURLSession(
                source: source, configuration: configuration, delegate: nil, delegateQueue: nil, observer: observer,
                validator: PathValidator(system: system, budget: PathBudget()), identity: { _ in identity })
        }
    }

    private static func refusal(_ session: URLSession, _ url: URL, _ method: String = "GET") async throws
        -> SessionError
    {
        var request = URLRequest(url: url)
        request.httpMethod = method
        if method == "POST" { request.httpBody = Data("pay 100".utf8) }
        let caught = await #expect(throws: URLError.self) { try await session.data(for: request) }
        let error = try #require(caught)
        #expect(TrustRejection(underlying: error) == nil)
        return try #require((error as NSError).userInfo[NSUnderlyingErrorKey] as? SessionError, "\(error)")
    }

    /// Expects that no server got anything of an identity.
    private static func expectNothing(of server: LoopbackTLSServer, requests: Int = 0) {
        #expect(server.connections.allSatisfy { $0.clientCertificates.isEmpty && !$0.hasClientSignature })
        #expect(server.requests.count == requests)
    }

    // MARK: Offered

    @Test(
        "A server with a matching pin gets the identity, its path and the request",
        arguments: [LoopbackTLSServer.Version.tls12, .tls13], ["http/1.1", "h2"])
    func shown(version: LoopbackTLSServer.Version, applicationProtocol: String) async throws {
        let fixture = try Fixture()
        let server = try fixture.server(version: version, protocols: [applicationProtocol])
        let session = fixture.session(try fixture.servers.policy(), fixture.identity)
        let response = try await session.data(from: try server.address()).1
        #expect(response.clientCertificateUse == .shown(fixture.identity.fingerprint))
        let record = try #require(server.connections.first)
        #expect(record.clientCertificates == fixture.client.chain && record.hasClientSignature)
        #expect(!record.offersLateAuthentication)
        #expect(server.requests.count == 1)
    }

    @Test(
        "Every kind of key works, and ML-DSA with OpenSSL 3.5",
        arguments: [KeyType.rsa(bits: 2_048), .p256, .p384, .ed25519] + [.mlDSA65].filter(\.isAvailable))
    func keys(type: KeyType) async throws {
        let fixture = try Fixture()
        let client = try fixture.clients.issueClient(keyType: type)
        for version in [LoopbackTLSServer.Version.tls12, .tls13] where type != .mlDSA65 || version == .tls13 {
            let server = try fixture.server(version: version)
            let session = fixture.session(try fixture.servers.policy(), try Fixture.identity(client))
            _ = try await session.data(from: try server.address())
            #expect(server.connections.first?.clientCertificates == client.chain)
        }
    }

    @Test("A server that does not ask gets nothing, and the response says so")
    func notAsked() async throws {
        let fixture = try Fixture()
        let server = try fixture.servers.server()
        let session = fixture.session(try fixture.servers.policy(), fixture.identity)
        let response = try await session.data(from: try server.address()).1
        #expect(response.clientCertificateUse == .notRequested)
        Self.expectNothing(of: server, requests: 1)
    }

    // MARK: Not offered

    /// The reasons to trust a server that do not suffice, and those that do.
    enum Basis: String, CaseIterable, Sendable {
        case matchingPin, ownAnchor, pinsExpired, mismatchReportedOnly, system, systemBesideOwn, noRule, debugAnchor
        case userApproved, userApprovedByName

        var suffices: Bool { [.matchingPin, .ownAnchor, .userApprovedByName].contains(self) }
    }

    private static func source(
        _ basis: Basis, _ fixture: Fixture, _ server: LoopbackTLSServer
    ) throws -> (any PolicySource, SystemAnchors, String) {
        let root = try Certificate(der: fixture.servers.root.certificate.der)
        let system = SystemAnchors(replacedBy: [root])
        let wrong = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: try PrivateKey().spkiDER)))
        let other = try Certificate(der: try CertificateAuthority.root().certificate.der)
        func policy(_ rule: PinnedHost) throws -> PinningPolicy { try PinningPolicy(hosts: [rule]) }
        switch basis {
        case .matchingPin: return (try fixture.servers.policy(), .shared, "pin-matched")
        case .ownAnchor: return (try fixture.servers.unpinned(), .shared, "host-not-pinned")
        case .pinsExpired:
            let expiry = PinExpiry.systemTrust(after: Date() - 60)
            return (
                try policy(
                    PinnedHost(
                        "localhost", pins: [wrong], backup: .noneAccepted, expiry: expiry, anchors: .only([root]))),
                .shared, "pins-expired"
            )
        case .mismatchReportedOnly:
            return (
                try policy(
                    PinnedHost(
                        "localhost", pins: [wrong], backup: .noneAccepted, enforcement: .reportOnly,
                        anchors: .only([root]))),
                .shared, "mismatch-reported-only"
            )
        case .system: return (try policy(PinnedHost("localhost", pins: [Pin]())), system, "host-not-pinned")
        case .systemBesideOwn:
            let anchors = TrustAnchors([other], includesSystem: true)
            return (try policy(PinnedHost("localhost", pins: [Pin](), anchors: anchors)), system, "host-not-pinned")
        case .noRule: return (try PinningPolicy(hosts: []), system, "host-not-pinned")
        case .debugAnchor:
            let rule = try PinnedHost("localhost", pins: [wrong], backup: .noneAccepted, anchors: .only([other]))
            return (try policy(rule).trusting(debugAnchors: [root]), .shared, "host-not-pinned")
        case .userApproved, .userApprovedByName:
            let store = TrustApprovalStore()
            let leaf = try Certificate(der: fixture.servers.identity.certificate.der)
            try store.approve(
                TrustApproval(
                    .certificate(leaf.fingerprint),
                    for: ServerEndpoint(host: ServerName("localhost"), port: server.port), at: Date()))
            let policy = try PinningPolicy(hosts: [], unpinnedHosts: .askUser)
            return (ApprovedPolicy(policy, approvals: store), .shared, "user-approved")
        }
    }

    @Test(
        "Only a matching pin, an anchor of the rule, and an approval that the app allows by name suffice",
        arguments: Basis.allCases, [LoopbackTLSServer.Version.tls12, .tls13])
    func basis(basis: Basis, version: LoopbackTLSServer.Version) async throws {
        let fixture = try Fixture()
        var offered = fixture.identity
        offered.isOfferedToApprovedServers = basis == .userApprovedByName
        let identity = offered
        for isRequired in [true, false] {
            let server = try fixture.server(isRequired: isRequired, version: version)
            let (source, system, reason) = try Self.source(basis, fixture, server)
            let session = PinnedURLSession(
                source: source, configuration: .ephemeral, delegate: nil, delegateQueue: nil,
                validator: PathValidator(system: system, budget: PathBudget()), identity: { _ in identity })
            let url = try server.address()
            if basis.suffices || !isRequired {
                let response = try await session.data(from: url).1
                #expect(response.trustReceipt?.basis.reason == reason)
                #expect(response.clientCertificateUse == (basis.suffices ? .shown(identity.fingerprint) : .withheld))
                if !basis.suffices { Self.expectNothing(of: server, requests: 1) }
            } else {
                let error = try await Self.refusal(session, url)
                #expect(error.code == .clientCertificateRequired)
                #expect(error.message.contains("trusted only as \(reason)"))
                Self.expectNothing(of: server)
            }
        }
    }

    @Test(
        "An interceptor of a trusted authority gets neither certificate nor signature nor request",
        arguments: [LoopbackTLSServer.Version.tls12, .tls13], ["http/1.1", "h2"])
    func interceptor(version: LoopbackTLSServer.Version, applicationProtocol: String) async throws {
        let fixture = try Fixture()
        let interceptor = try fixture.servers.root.issue(hosts: ["localhost"])
        let server = try fixture.server(presenting: interceptor, version: version, protocols: [applicationProtocol])
        let proxy = try LoopbackProxy(.httpConnect)
        let configuration = URLSessionConfiguration.ephemeral
        for isProxied in [false, true] {
            if isProxied {
                configuration.connectionProxyDictionary = [
                    "HTTPSEnable": true, "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port),
                ]
            }
            let session = fixture.session(
                try fixture.servers.policy(), configuration: configuration, fixture.identity)
            let url = try server.address()
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
            let right = try fixture.server(version: version, protocols: [applicationProtocol])
            _ = try await session.data(from: try right.address())
            #expect(right.connections.first?.clientCertificates == fixture.client.chain)
        }
        #expect(proxy.connections.count == 2 && server.waitUntilClosed(connections: 2))
        Self.expectNothing(of: server)
    }

    @Test("With RSA key exchange the server would get the identity before it has proved its key, so it gets none")
    func unprovenKey() async throws {
        let fixture = try Fixture()
        let rsa = try fixture.servers.root.issue(keyType: .rsa(bits: 2_048))
        let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: rsa.certificate.spkiDER)))
        let root = try Certificate(der: fixture.servers.root.certificate.der)
        let policy = try PinningPolicy(hosts: [
            try PinnedHost("localhost", pins: [pin], backup: .noneAccepted, anchors: .only([root]))
        ])
        let session = fixture.session(policy, fixture.identity)
        for (cipher, isSafe) in [("AES128-GCM-SHA256", false), ("ECDHE-RSA-AES128-GCM-SHA256", true)] {
            let server = try SServer(rsa, ["-tls1_2", "-cipher", cipher, "-Verify", "3", "-verify_quiet"])
            let url = try #require(URL(string: "https://localhost:\(server.port)/"))
            if isSafe {
                let page = String(decoding: try await session.data(from: url).0, as: UTF8.self)
                #expect(page.contains("Subject: CN=Test Client"))
            } else {
                let error = try await Self.refusal(session, url)
                #expect(error.code == .clientCertificateRequired && error.message.contains("RSA key exchange"))
            }
        }
    }

    @Test("After a redirect, only the host that the closure names gets the identity")
    func redirect() async throws {
        let fixture = try Fixture()
        let second = try fixture.server(isRequired: false)
        let target = try second.address(host: "127.0.0.1")
        let first = try fixture.server(application: .http { _ in .redirect(to: target.absoluteString) })
        let asked = Mutex<[String]>([])
        let identity = fixture.identity
        let session = URLSession.pinned(
            to: try fixture.servers.policy(["localhost", "127.0.0.1"]), configuration: .ephemeral
        ) { server in
            asked.withLock { $0.append(server.host.description) }
            return server.host.description == "localhost" ? identity : nil
        }
        let response = try await session.data(from: try first.address()).1
        #expect(response.clientCertificateUse == .withheld)
        #expect(asked.withLock { $0 } == ["localhost", "127.0.0.1"])
        #expect(first.connections.first?.clientCertificates == fixture.client.chain)
        Self.expectNothing(of: second, requests: 1)
    }

    /// A source whose policy is replaced between the verdict and the server's question.
    private struct Replaced: PolicySource {
        final class Calls: Sendable { let count = Mutex(0) }

        let policy: PinningPolicy
        let server: LoopbackTLSServer
        let calls = Calls()

        var current: PolicySnapshot {
            let count = calls.count.withLock { count in
                if !server.serverNames.isEmpty { count += 1 }
                return count
            }
            return PolicySnapshot(policy: policy, generation: count > 1 ? 2 : 1)
        }
    }

    @Test(
        "If the policy changes after the verdict, the server gets nothing until it is judged again",
        arguments: [false, true], [LoopbackTLSServer.Version.tls12, .tls13])
    func policyChange(isRequired: Bool, version: LoopbackTLSServer.Version) async throws {
        let fixture = try Fixture()
        let server = try fixture.server(isRequired: isRequired, version: version)
        let source = Replaced(policy: try fixture.servers.policy(), server: server)
        let response = try await fixture.session(source, fixture.identity).data(from: try server.address()).1
        #expect(response.trustReceipt?.generation == 2)
        #expect(response.clientCertificateUse == .shown(fixture.identity.fingerprint))
        #expect(server.connections.map(\.clientCertificates).filter { !$0.isEmpty } == [fixture.client.chain])
        #expect(server.connections.first?.clientCertificates == [])
        #expect(server.requests.count == 1)
    }

    // MARK: Errors

    @Test(
        "A server that requires a certificate and gets none: the error says what it accepts",
        arguments: [LoopbackTLSServer.Version.tls12, .tls13], ["GET", "POST"])
    func required(version: LoopbackTLSServer.Version, method: String) async throws {
        let fixture = try Fixture()
        let server = try fixture.server(version: version)
        let error = try await Self.refusal(
            fixture.session(try fixture.servers.policy(), nil), try server.address(), method)
        #expect(error.code == .clientCertificateRequired)
        #expect(
            error.message
                == "localhost:\(server.port) requires a client certificate, and got none: none was given for it")
        #expect(error.clientCertificateRequest?.authorities == ["CN=Client Authority"])
        #expect(error.clientCertificateRequest?.keyTypes.contains("ECDSA") == true)
        #expect(error.hint?.contains("CN=Client Authority") == true)
        Self.expectNothing(of: server)
    }

    @Test(
        "A server that refuses the certificate: the error says why it may not fit",
        arguments: [(-10, 10, nil), (-20, -10, "it has expired"), (10, 20, "it is not valid yet")])
    func refused(begin: Int, end: Int, dates: String?) async throws {
        let fixture = try Fixture { ($0.notBefore, $0.notAfter) = (.fromNow(days: begin), .fromNow(days: end)) }
        let log = Mutex<[SessionEvent]>([])
        struct Observer: TrustEventObserver {
            let note: @Sendable (SessionEvent) -> Void
            func observe(_ event: TrustEvent) { if case .session(let event) = event { note(event) } }
        }
        let stranger = try CertificateAuthority.root(name: "Stranger").issueClient()
        for version in [LoopbackTLSServer.Version.tls12, .tls13] {
            for identity in [fixture.identity, try Fixture.identity(stranger)] {
                let server = try fixture.server(refusesAll: true, version: version)
                let session = fixture.session(
                    try fixture.servers.policy(), observer: Observer { event in log.withLock { $0.append(event) } },
                    identity)
                let error = try await Self.refusal(session, try server.address())
                #expect(error.code == .clientCertificateRefused)
                #expect(error.message.contains("\(identity.fingerprint)"))
                let isStranger = identity != fixture.identity
                #expect(error.message.contains("its issuer is not among") == isStranger)
                for text in ["it has expired", "it is not valid yet"] {
                    #expect(error.message.contains(text) == (text == dates && !isStranger))
                }
            }
        }
        // Events come on a queue of their own. Over TLS 1.2 the server refuses within the handshake, and has the
        // certificate all the same.
        for _ in 0..<500 where dates != nil && log.withLock({ $0.count }) < 2 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(
            log.withLock { $0.map(\.code) }
                == (dates == nil ? [] : ["client-certificate-dates", "client-certificate-dates"]))
    }

    @Test(
        "If a server only asks and then ends the connection, or a task waits for its closure, the error says that",
        arguments: ["GET", "POST"])
    func otherEnds(method: String) async throws {
        let fixture = try Fixture()
        let server = try fixture.server(
            isRequired: false,
            application: .stream { stream in _ = try? stream.read(upTo: 4_096) })
        var request = URLRequest(url: try server.address())
        request.httpMethod = method
        if method == "POST" { request.httpBody = Data("pay 100".utf8) }
        let session = fixture.session(try fixture.servers.policy(), nil)
        let lost = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(lost?.code == .networkConnectionLost && lost?.refusal == nil)
        #expect(lost?.localizedDescription.contains("may have performed the POST") == (method == "POST"))

        for isForRequest in [true, false] {
            let configuration = URLSessionConfiguration.ephemeral
            if isForRequest {
                configuration.timeoutIntervalForRequest = 1
            } else {
                configuration.timeoutIntervalForResource = 1
            }
            let gate = DispatchSemaphore(value: 0)
            let identity = fixture.identity
            let waiting = URLSession.pinned(to: try fixture.servers.policy(), configuration: configuration) { _ in
                gate.wait()
                return identity
            }
            let late = await #expect(throws: URLError.self) { try await waiting.data(for: request) }
            #expect(late?.code == .timedOut)
            gate.signal()
        }
    }

    @Test("A busy delegate queue stops neither the choice of an identity nor a callback that waits for a request")
    func busyQueue() async throws {
        let fixture = try Fixture()
        let server = try fixture.server()
        let identity = fixture.identity
        let session = URLSession.pinned(to: try fixture.servers.policy(), configuration: .ephemeral) { _ in identity }
        let url = try server.address()
        let isOver = await withCheckedContinuation { continuation in
            session.delegateQueue.addOperation {
                let done = DispatchSemaphore(value: 0)
                Task {
                    _ = try? await session.data(from: url)
                    done.signal()
                }
                continuation.resume(returning: done.wait(timeout: .now() + 30) == .success)
            }
        }
        #expect(isOver)
    }

    @Test("Timers run one after the other, so many do not take a thread each")
    func timers() async throws {
        let running = Mutex((now: 0, most: 0, done: 0))
        let countdowns = (0..<50).map { _ in
            Countdown(to: 0) {
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.done) }
                usleep(1_000)
                running.withLock { $0 = ($0.now - 1, $0.most, $0.done + 1) }
            }
        }
        while running.withLock(\.done) < 50 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(running.withLock(\.most) == 1)
        withExtendedLifetime(countdowns) {}
    }

    @Test("A hundred identities that take turns keep their connections")
    func manyIdentities() async throws {
        let fixture = try Fixture()
        let server = try LoopbackTLSServer(fixture.servers.identity) { configuration in
            configuration.maximumConnections = 200
            configuration.clientCertificateQuestion = .init(authorities: [])
        }
        let identities = try (0..<100).map { number in
            try Fixture.identity(try fixture.servers.root.issue(hosts: ["user\(number).example.com"]))
        }
        let next = Mutex(0)
        let session = URLSession.pinned(to: try fixture.servers.policy(), configuration: .ephemeral) { _ in
            next.withLock { next in
                next += 1
                return identities[(next - 1) % identities.count]
            }
        }
        let url = try server.address()
        for _ in 0..<300 { _ = try await session.data(from: url) }
        #expect(server.completedHandshakeCount == 100)
    }

    @Test("An alert after a response is not about the certificate")
    func lateAlert() async throws {
        let fixture = try Fixture()
        let count = Mutex(0)
        let server = try fixture.server(
            isRequired: false,
            application: .stream { stream in
                while let head = try? stream.read(upTo: 4_096), !head.isEmpty {
                    let isFirst = count.withLock { count in
                        count += 1
                        return count == 1
                    }
                    guard isFirst else { return }
                    try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
                }
            })
        let session = fixture.session(try fixture.servers.policy(), nil)
        _ = try await session.data(from: try server.address())
        var request = URLRequest(url: try server.address())
        request.httpMethod = "POST"
        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(error?.code == .networkConnectionLost)
    }

    @Test("A long list of authorities is cut, and its names are escaped")
    func authorities() async throws {
        let fixture = try Fixture()
        let names = (0..<40).map { "Authority \($0)\u{1B}[31m\n" + String(repeating: "x", count: 30) }
        let authorities = try names.map { try CertificateAuthority.root(name: $0).certificate }
        let server = try LoopbackTLSServer(fixture.servers.identity) {
            $0.clientCertificateQuestion = .init(authorities: authorities)
        }
        let error = try await Self.refusal(fixture.session(try fixture.servers.policy(), nil), try server.address())
        let request = try #require(error.clientCertificateRequest)
        #expect(request.authorities.count == 32 && request.authorityCount == 40)
        #expect(error.hint?.contains("and 8 more") == true)
        #expect(!"\(error)".unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test(
        "nginx gets the identity, and answers without one in HTTP", arguments: ["TLSv1.2", "TLSv1.3"], ["", "http2"])
    func nginx(version: String, listening: String) async throws {
        let fixture = try Fixture()
        let files = try TemporaryDirectory()
        try files.write(PEM.bundle(fixture.client.issuers.map(\.der)), to: "clients.pem")
        let nginx = try NginxServer(
            fixture.servers.identity, protocols: version, listening: listening,
            directives: """
                ssl_verify_client on; ssl_client_certificate clients.pem; ssl_verify_depth 2;
                location / { return 200 "$ssl_client_verify $ssl_client_s_dn"; }
                """, in: files)
        let policy = try fixture.servers.policy()
        let (data, _) = try await fixture.session(policy, fixture.identity).data(from: try nginx.address())
        #expect(String(decoding: data, as: UTF8.self) == "SUCCESS CN=Test Client")
        let response = try await fixture.session(policy, nil).data(from: try nginx.address()).1 as? HTTPURLResponse
        #expect(response?.statusCode == 400 && response?.clientCertificateUse == .withheld)
    }

    // MARK: Connections

    /// A server that answers with the fingerprint of the certificate of its connection.
    private static func mirror(_ fixture: Fixture) throws -> LoopbackTLSServer {
        try fixture.server(
            application: .stream { stream in
                var reader = HTTPReader(stream)
                while (try? reader.head()) != nil {
                    let certificate = (stream as? TLSServerConnection)?.record.clientCertificates.first ?? []
                    let text = "\(CertificatePin(certificate: certificate))"
                    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
                    try? stream.write(Array((head + text).utf8))
                }
            })
    }

    @Test("10,000 requests at once with four identities: none goes over a connection of another")
    func rotation() async throws {
        let fixture = try Fixture()
        let server = try Self.mirror(fixture)
        let identities = try (0..<4).map { _ in try Fixture.identity(try fixture.clients.issueClient()) }
        let next = Mutex<[ClientIdentity]>([])
        // The closure knows the server only, so the requests are made in the order in which it is asked.
        let session = URLSession.pinned(to: try fixture.servers.policy(), configuration: .ephemeral) { _ in
            next.withLock { $0.removeFirst() }
        }
        let url = try server.address()
        var received: [String: Int] = [:]
        for round in 0..<100 {
            let chosen = (0..<100).map { identities[(round + $0) % 4] }
            next.withLock { $0 += chosen }
            let answers = await withTaskGroup(of: String.self) { group in
                for _ in chosen {
                    group.addTask {
                        guard let (data, response) = try? await session.data(from: url) else { return "failed" }
                        let text = String(decoding: data, as: UTF8.self)
                        // The session and the server have seen the same identity.
                        guard case .shown(let shown) = response.clientCertificateUse, "\(shown)" == text
                        else { return "mixed up" }
                        return text
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for answer in answers { received[answer, default: 0] += 1 }
        }
        let expected = Dictionary(uniqueKeysWithValues: identities.map { ("\($0.fingerprint)", 2_500) })
        #expect(received == expected)
        #expect(server.connections.allSatisfy { $0.clientCertificates.count == 2 })
    }

    @Test("Another identity opens another connection")
    func change() async throws {
        let fixture = try Fixture()
        let server = try Self.mirror(fixture)
        let other = try Fixture.identity(try fixture.clients.issueClient())
        let current = Mutex(fixture.identity)
        let session = URLSession.pinned(to: try fixture.servers.policy(), configuration: .ephemeral) { _ in
            current.withLock { $0 }
        }
        for identity in [fixture.identity, fixture.identity, other, fixture.identity] {
            current.withLock { $0 = identity }
            let (data, _) = try await session.data(from: try server.address())
            #expect(String(decoding: data, as: UTF8.self) == "\(identity.fingerprint)")
        }
        #expect(server.connectionCount == 2)
    }

    // MARK: Secrets

    @Test(
        "Neither the key nor the password stands in errors, events, reports or the output of a crash",
        .enabled(if: dlsym(nil, "__asan_init") == nil, "no sanitizer is at work"))
    func secrets() async throws {
        let fixture = try Fixture()
        let password = "open sesame"
        let made = try runProcess(
            ["openssl", "pkcs12", "-export", "-passout", "pass:\(password)"],
            input: Array((fixture.client.key.pem + fixture.client.chainPEM).utf8))
        let file = made.stdout
        let server = try fixture.server()
        let (url, root) = (try server.address().absoluteString, fixture.servers.root.certificate.der)
        let pin = fixture.servers.identity.certificate.spkiDER
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent, \.standardOutputContent]
        ) { [file = file as [UInt8], url = url as String, root = root as [UInt8], pin = pin as [UInt8]] in
            let identity = try ClientIdentity(pkcs12: file) { "open sesame" }
            print(identity)
            do { _ = try ClientIdentity(pkcs12: file) { "open sesame!" } } catch { print(error) }
            let anchors = TrustAnchors.only([try Certificate(der: root)])
            for pin in [pin, try PrivateKey().spkiDER] {
                let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: pin)))
                let policy = try PinningPolicy(hosts: [
                    try PinnedHost("localhost", pins: [pin], backup: .noneAccepted, anchors: anchors)
                ])
                let log = TrustEventLog { print($0, $1) }
                let session = URLSession.pinned(to: policy, observer: log) { _ in identity }
                let address = try #require(URL(string: url))
                do { print(try await session.data(from: address)) } catch { print(error) }
            }
            fatalError("\(identity)")
        }
        let output = (result?.standardErrorContent ?? []) + (result?.standardOutputContent ?? [])
        #expect(!output.isEmpty && server.requests.count == 1)
        // The secret part of the key is the OCTET STRING of 32 bytes in its ECPrivateKey (RFC 5915).
        let key = fixture.client.key.pkcs8DER
        let start = try #require(key.firstRange(of: [0x04, 0x20])?.upperBound)
        let secret = Array(key[start..<start + 32])
        let base64 = Data(key).base64EncodedString()
        let hex = secret.map { String($0, radix: 16).count == 1 ? "0" + String($0, radix: 16) : String($0, radix: 16) }
        for text in [password, String(base64.dropFirst(60).prefix(24)), hex.joined(), hex.joined(separator: ":")] {
            #expect(output.firstRange(of: Array(text.utf8)) == nil)
        }
        #expect(output.firstRange(of: secret) == nil)
        #expect(output.firstRange(of: Array("\(Array(secret.prefix(8)))".dropLast().utf8)) == nil)
    }
}
