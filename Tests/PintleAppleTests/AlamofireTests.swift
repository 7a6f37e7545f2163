import Alamofire
import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Testing

/// The code of the article about migrating, with real servers. It is in `AlamofireTrust.swift`, a link to the snippet.
@Suite("Apple: Alamofire")
struct AlamofireTests {
    /// The two ways that the article shows.
    enum Way: CaseIterable, Sendable {
        case evaluator, delegate

        func session(_ policy: PinningPolicy) -> Session {
            switch self {
            case .evaluator: evaluatedSession(LivePolicy(policy))
            case .delegate: delegatedSession(LivePolicy(policy))
            }
        }
    }

    /// Loads a URL. Keeps the session alive meanwhile, because Alamofire's session cancels its tasks when it is
    /// released.
    private func ask(_ session: Session, _ url: URL) async throws -> Data {
        try await session.request(url).validate().serializingData().value
    }

    private func rejection(_ session: Session, _ url: URL) async throws -> TrustRejection? {
        let error = await #expect(throws: AFError.self) { try await ask(session, url) }
        return TrustRejection(underlying: try #require(error))
    }

    @Test(
        "The right pin gets the response, with system roots or private roots, and validate() checks the status",
        arguments: Way.allCases, [true, false])
    func right(way: Way, isSystem: Bool) async throws {
        let fixture = try SessionFixture(isSystem: isSystem)
        let server = try fixture.server { $0.target == "/broken" ? HTTPResponse(status: 500) : .ok }
        let session = way.session(try fixture.policy(anchors: isSystem ? .system : nil))
        #expect(try await ask(session, try server.address()) == Data("ok\n".utf8))
        let broken = try server.address("broken")
        let error = await #expect(throws: AFError.self) { try await ask(session, broken) }
        guard case .responseValidationFailed(.unacceptableStatusCode(500)) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(TrustRejection(underlying: try #require(error)) == nil)
        #expect(try await session.request(broken).serializingData().value.isEmpty)
    }

    @Test("The session behind the delegate has no cache and no loaders of other code, which the system's default has")
    func configuration() throws {
        let session = Way.delegate.session(try PinningPolicy(hosts: []))
        #expect(session.session.configuration.urlCache == nil)
        #expect(session.session.configuration.protocolClasses?.isEmpty == true)
        #expect(URLSessionConfiguration.af.default.urlCache != nil)
    }

    @Test(
        "A wrong pin is the reason in Alamofire's error, and the server gets no byte of a request",
        arguments: Way.allCases, [true, false])
    func wrong(way: Way, isSystem: Bool) async throws {
        let fixture = try SessionFixture(isSystem: isSystem)
        let server = try fixture.server()
        let session = way.session(try fixture.policy(rightPin: false, anchors: isSystem ? .system : nil))
        let url = try server.address()
        let error = await #expect(throws: AFError.self) { try await ask(session, url) }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
        switch (way, error) {
        case (.evaluator, .serverTrustEvaluationFailed(.customEvaluationFailed)): break
        case (.delegate, .sessionTaskFailed(let cause)):
            #expect((cause as? URLError)?.code == .serverCertificateUntrusted)
        default: Issue.record("\(error as Any)")
        }
        #expect(server.waitUntilClosed())
        #expect(server.requestByteCount == 0)
    }

    @Test("The pinned key on an untrusted path is refused", arguments: Way.allCases)
    func path(way: Way) async throws {
        let fixture = try SessionFixture(isSystem: true)
        let session = way.session(try fixture.policy(anchors: .system))
        let forged = try CertificateAuthority.root(name: "Foreign").issue(
            hosts: ["localhost"], key: fixture.identity.key)
        let foreign = try LoopbackTLSServer(forged, handler: { _ in .ok })
        #expect(try await rejection(session, try foreign.address())?.pathFailure?.code == .untrustedRoot)
        #expect(foreign.waitUntilClosed())
        #expect(foreign.requestByteCount == 0)
        let own = try fixture.server()
        #expect(try await ask(session, try own.address()).count == 3)
    }

    @Test("The policy decides about a host without a rule, not Alamofire's table", arguments: Way.allCases)
    func unpinned(way: Way) async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let closed = way.session(try fixture.policy(host: "example.com", unpinnedHosts: .reject))
        #expect(try await rejection(closed, try server.address())?.reason == "host-not-allowed")
        let open = way.session(try fixture.policy(host: "example.com", unpinnedHosts: .systemTrust))
        #expect(try await ask(open, try server.address()).count == 3)
    }

    @Test("The delegate applies a rule for a port; the evaluator gets no port and refuses such a policy")
    func port() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        func policy(_ key: [UInt8], port: UInt16?) throws -> PinningPolicy {
            let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: key)))
            return try PinningPolicy(hosts: [
                try PinnedHost("localhost", port: port, pins: [pin], backup: .noneAccepted)
            ])
        }
        let (own, other) = (fixture.identity.certificate.spkiDER, try PrivateKey().spkiDER)
        let url = try server.address()
        for (way, port, reasons) in [
            (Way.delegate, server.port as UInt16?, [nil, "pin-mismatch"]), (.delegate, nil, [nil, "pin-mismatch"]),
            (.evaluator, server.port, ["invalid-path", "invalid-path"]), (.evaluator, nil, [nil, "pin-mismatch"]),
        ] {
            for (key, reason) in zip([own, other], reasons) {
                let session = way.session(try policy(key, port: port))
                guard let reason else {
                    #expect(try await ask(session, url).count == 3)
                    continue
                }
                let found = try await rejection(session, url)
                #expect(found?.reason == reason)
                #expect(found?.pathFailure?.code == (reason == "invalid-path" ? .other : nil))
            }
        }
    }

    @Test("The evaluator is not asked about http; the delegate cancels a request over http to a covered host")
    func plainHTTP() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let plain = try LoopbackTCPServer.http()
        let place = try #require(URL(string: "http://localhost:\(plain.port)/"))
        let server = try fixture.server { _ in .redirect(to: place.absoluteString) }
        let policy = try fixture.policy(anchors: .system)
        #expect(try await ask(Way.evaluator.session(policy), try server.address()).count == 3)
        #expect(plain.connectionCount == 1)
        // The redirect is not followed, so the response is the redirect itself.
        let error = await #expect(throws: AFError.self) {
            try await ask(Way.delegate.session(policy), try server.address())
        }
        guard case .responseValidationFailed(.unacceptableStatusCode(302)) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(server.requests.count == 2)
        #expect(plain.connectionCount == 1)
        #expect(try await ask(Way.evaluator.session(policy), place).count == 3)
        let arrival = await #expect(throws: AFError.self) { try await ask(Way.delegate.session(policy), place) }
        guard case .sessionTaskFailed(let cause) = arrival else {
            Issue.record("\(arrival as Any)")
            return
        }
        #expect((cause as? URLError)?.code == .appTransportSecurityRequiresSecureConnection)
        // The task was cancelled when it was made.
        #expect(plain.connectionCount == 2)
    }

    @Test(
        "After a policy change the evaluator is asked only about a new connection, which flush may bring", .flushCloses)
    func kept() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let server = try fixture.server()
        let policy = LivePolicy(try fixture.policy(anchors: .system))
        let configuration = URLSessionConfiguration.af.default
        configuration.httpMaximumConnectionsPerHost = 1
        let session = Session(configuration: configuration, serverTrustManager: PolicyTrust(policy))
        let url = try server.address()
        #expect(try await ask(session, url).count == 3)
        policy.replace(with: try fixture.policy(rightPin: false, anchors: .system))
        #expect(try await ask(session, url).count == 3)
        #expect(server.connectionCount == 1)
        session.session.flush {}
        #expect(try await rejection(session, url)?.reason == "pin-mismatch")
        #expect(server.connectionCount == 2)
    }
}
