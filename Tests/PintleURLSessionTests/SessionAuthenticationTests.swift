import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Authentication: the session answers a 401 over connections that the policy has accepted.
@Suite("Pinned sessions: authentication")
struct SessionAuthenticationTests {
    private let right = URLCredential(user: "Mufasa", password: "Circle of Life", persistence: .forSession)
    private let wrong = URLCredential(user: "Mufasa", password: "Pride Rock", persistence: .forSession)
    private let basic = "Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl"

    private func guarded(
        _ fixture: SessionFixture, challenge: String = "Basic realm=\"pride\""
    ) throws -> LoopbackTLSServer {
        let expected = basic
        return try fixture.server { request in
            request["authorization"] == expected
                ? HTTPResponse(
                    status: 200, reason: "OK", body: request.body.isEmpty ? Array("ok\n".utf8) : request.body)
                : .unauthorized(challenge: challenge)
        }
    }

    @Test("A delegate's credential is accepted, and the challenge has the same properties as Foundation's")
    func basicCredential() async throws {
        let fixture = try SessionFixture()
        let server = try guarded(fixture)
        let right = right
        let delegate = RecordingDelegate { _ in (.useCredential, right) }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await delegate.run(session.dataTask(with: try server.address("den")))
        #expect(delegate.events == ["challenge 0", "response 200", "data", "complete"])
        #expect(delegate.log.withLock { $0.data } == Data("ok\n".utf8))
        let challenge = try #require(delegate.log.withLock { $0.challenges.first })
        let space = challenge.protectionSpace
        #expect(space.host == "localhost")
        #expect(space.port == Int(server.port))
        #expect(space.protocol == "https")
        #expect(space.realm == "pride")
        #expect(space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic)
        #expect(space.receivesCredentialSecurely)
        #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
        #expect(challenge.proposedCredential == nil)
        #expect(server.requests.map { $0["authorization"] } == [nil, basic])
        #expect(server.completedHandshakeCount == 1)
    }

    @Test("The delegate is asked again after a wrong credential, with the count, and stopped at a limit")
    func wrongCredential() async throws {
        let fixture = try SessionFixture()
        let server = try guarded(fixture)
        let (right, wrong) = (right, wrong)
        let delegate = RecordingDelegate {
            ($0.previousFailureCount < 2 ? (.useCredential, wrong) : (.useCredential, right))
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await delegate.run(session.dataTask(with: try server.address()))
        #expect(
            delegate.events == ["challenge 0", "challenge 1", "challenge 2", "response 200", "data", "complete"])

        let stubborn = RecordingDelegate { _ in (.useCredential, wrong) }
        let other = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: stubborn)
        await other.run(stubborn, try server.address())
        #expect(stubborn.events.suffix(3) == ["challenge 19", "response 401", "complete"])
    }

    @Test(
        "The delegate's other answers have the same effect as in Foundation",
        arguments: [
            ("nil", "response 401"), ("default", "response 401"), ("reject", "response 401"), ("cancel", "complete"),
        ])
    func dispositions(answer: String, next: String) async throws {
        let fixture = try SessionFixture()
        let server = try guarded(fixture)
        let delegate = RecordingDelegate { challenge in
            // One answer uses the older method of the sender, and answers twice: only the first counts.
            if answer == "default" { challenge.sender?.performDefaultHandling(for: challenge) }
            return switch answer {
            case "nil": (.useCredential, nil)
            case "reject": (.rejectProtectionSpace, nil)
            default: (.cancelAuthenticationChallenge, nil)
            }
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await session.run(delegate, try server.address())
        #expect(delegate.events.prefix(2) == ["challenge 0", next])
        #expect((delegate.error?.code == .cancelled) == (answer == "cancel"))
        #expect(server.requests.count == 1)
    }

    @Test(
        "Without a delegate the session uses the stored credential, but not one of another realm",
        arguments: ["pride", "other"])
    func storedCredential(realm: String) async throws {
        let fixture = try SessionFixture()
        let server = try guarded(fixture)
        let configuration = URLSessionConfiguration.ephemeral
        let storage = URLCredentialStorage()
        configuration.urlCredentialStorage = storage
        storage.setDefaultCredential(
            right,
            for: URLProtectionSpace(
                host: "localhost", port: Int(server.port), protocol: "https", realm: realm,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let (_, response) = try await session.data(from: try server.address())
        #expect((response as? HTTPURLResponse)?.statusCode == (realm == "pride" ? 200 : 401))
        #expect(storage.allCredentials.count == 1)
    }

    @Test("A credential that was accepted is proposed the next time, one that was refused is not")
    func proposal() async throws {
        let fixture = try SessionFixture()
        let server = try guarded(fixture)
        let (right, wrong) = (right, wrong)
        let delegate = RecordingDelegate { challenge in
            challenge.proposedCredential == nil ? (.useCredential, right) : (.performDefaultHandling, nil)
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await session.run(delegate, try server.address())
        await session.run(delegate, try server.address())
        let proposed = delegate.log.withLock { $0.challenges.map { $0.proposedCredential?.password } }
        #expect(proposed == [nil, "Circle of Life"])

        let strange = try fixture.server { _ in .unauthorized() }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCredentialStorage?.setDefaultCredential(
            wrong,
            for: URLProtectionSpace(
                host: "localhost", port: Int(strange.port), protocol: "https", realm: "test",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
        let bare = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let (_, response) = try await bare.data(from: try strange.address())
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
        #expect(strange.requests.count == 2)
    }

    @Test(
        "Challenges of other kinds become the response, and the delegate is not asked",
        arguments: ["NTLM", "Negotiate YII=", "Bearer realm=\"x\"", "Digest realm=\"x\", nonce=\"y\", algorithm=MD6"])
    func otherKinds(challenge: String) async throws {
        let fixture = try SessionFixture()
        let server = try guarded(fixture, challenge: challenge)
        let right = right
        let delegate = RecordingDelegate { _ in (.useCredential, right) }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await session.run(delegate, try server.address())
        #expect(delegate.events == ["response 401", "complete"])
    }

    @Test("The strongest of several schemes comes first, and after its rejection the next one")
    func severalWays() async throws {
        let fixture = try SessionFixture()
        let server = try guarded(
            fixture,
            challenge: "Basic realm=\"pride\", Digest realm=\"a, b\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256")
        let right = right
        let delegate = RecordingDelegate { challenge in
            challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPDigest
                ? (.rejectProtectionSpace, nil) : (.useCredential, right)
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await session.run(delegate, try server.address())
        #expect(delegate.log.withLock { $0.challenges.map { $0.protectionSpace.realm } } == ["a, b", "pride"])
        #expect(delegate.events.contains("response 200"))
    }

    @Test("A credential does not leave its origin after a redirect", arguments: [true, false])
    func origin(isSame: Bool) async throws {
        let fixture = try SessionFixture()
        let (basic, right) = (basic, right)
        let target = try fixture.server()
        let server = try fixture.server { request in
            guard request["authorization"] == basic else { return .unauthorized(challenge: "Basic realm=\"pride\"") }
            return request.target == "/end" ? .ok : .redirect(to: isSame ? "/end" : target.url())
        }
        let delegate = RecordingDelegate { _ in (.useCredential, right) }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await session.run(delegate, try server.address())
        #expect(delegate.events == ["challenge 0", "redirect 302", "response 200", "data", "complete"])
        #expect((isSame ? server : target).requests.last?["authorization"] == (isSame ? basic : nil))
    }

    @Test(
        "Only an expired nonce is renewed without asking the delegate",
        arguments: [
            ("Digest realm=\"b\", nonce=\"n1\", algorithm=MD5", 1),
            ("Digest realm=\"a\", nonce=\"n1\", algorithm=MD5", 2),
            ("Digest realm=\"b\", nonce=\"n1\", algorithm=SHA-256", 2),
            ("Digest realm=\"b\", nonce=\"n1\", algorithm=MD5-sess", 2),
            ("Digest realm=\"b\", nonce=\"n1\", algorithm=MD5, qop=auth", 2), ("Basic realm=\"b\"", 2),
        ])
    func renewal(first: String, questions: Int) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            guard let answer = request["authorization"] else { return .unauthorized(challenge: first) }
            let next = "Digest realm=\"b\", nonce=\"n2\", algorithm=MD5, stale=true"
            return answer.contains("nonce=\"n2\"") ? .ok : .unauthorized(challenge: next)
        }
        let right = right
        let delegate = RecordingDelegate { _ in (.useCredential, right) }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await session.run(delegate, try server.address())
        #expect(delegate.log.withLock { $0.challenges.count } == questions)
        #expect(delegate.events.contains("response 200"))
        #expect(server.requests.count == 3)
    }

    @Test("Failures are counted by server and realm", arguments: [true, false])
    func failures(isSame: Bool) async throws {
        let fixture = try SessionFixture()
        let (basic, right) = (basic, right)
        let target = try guarded(fixture)
        let server = try fixture.server { request in
            guard request["authorization"] == basic, request.target != "/end" else {
                return .unauthorized(challenge: "Basic realm=\"pride\"")
            }
            return .redirect(to: isSame ? "/end" : target.url())
        }
        let delegate = RecordingDelegate { (.useCredential, $0.previousFailureCount == 0 ? right : nil) }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        await session.run(delegate, try server.address())
        #expect(
            delegate.events.prefix(4)
                == (isSame
                    ? ["challenge 0", "redirect 302", "challenge 1", "response 401"]
                    : ["challenge 0", "redirect 302", "challenge 0", "response 200"]))
    }

    @Test(
        "A redirect to another server gets the stored credential only if it is stored for that server too",
        arguments: [true, false])
    func storedForBoth(isStored: Bool) async throws {
        let fixture = try SessionFixture()
        let basic = basic
        let target = try guarded(fixture)
        let server = try fixture.server { request in
            request["authorization"] == basic
                ? .redirect(to: target.url()) : .unauthorized(challenge: "Basic realm=\"pride\"")
        }
        let configuration = URLSessionConfiguration.ephemeral
        for port in [server.port, target.port].prefix(isStored ? 2 : 1) {
            configuration.urlCredentialStorage?.setDefaultCredential(
                right,
                for: URLProtectionSpace(
                    host: "localhost", port: Int(port), protocol: "https", realm: "pride",
                    authenticationMethod: NSURLAuthenticationMethodHTTPBasic))
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let (_, response) = try await session.data(from: try server.address())
        #expect((response as? HTTPURLResponse)?.statusCode == (isStored ? 200 : 401))
    }

    @Test("An upload is sent again together with the credential", arguments: ["data", "file"])
    func upload(kind: String) async throws {
        let fixture = try SessionFixture()
        let server = try guarded(fixture)
        let right = right
        let delegate = RecordingDelegate { _ in (.useCredential, right) }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        let body = Data(repeating: 0x61, count: 300_000)
        let files = try TemporaryDirectory()
        try body.write(to: URL(fileURLWithPath: files.path(of: "body")))
        var request = URLRequest(url: try server.address())
        request.httpMethod = "PUT"
        let task =
            kind == "data"
            ? session.uploadTask(with: request, from: body)
            : session.uploadTask(with: request, fromFile: URL(fileURLWithPath: files.path(of: "body")))
        await delegate.run(task)
        #expect(delegate.log.withLock { $0.data } == body)
        #expect(server.requests.map(\.body.count) == [300_000, 300_000])
    }

    @Test("The policy in force after the delegate's answer decides about the next request", arguments: [true, false])
    func policyChange(rightPin: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try guarded(fixture)
        let (right, next) = (right, try fixture.policy(rightPin: rightPin))
        let live = LivePolicy(try fixture.policy())
        let delegate = RecordingDelegate { _ in
            live.replace(with: next)
            return (.useCredential, right)
        }
        let session = URLSession.pinned(to: live, configuration: .ephemeral, delegate: delegate)
        await session.run(delegate, try server.address())
        #expect(server.requests.count == (rightPin ? 2 : 1))
        let rejection = delegate.error.flatMap { TrustRejection(underlying: $0) }
        #expect(rejection?.reason == (rightPin ? nil : "pin-mismatch"))
    }

    @Test("An interceptor that asks for a credential gets no request; with the pin the server gets both")
    func pinned() async throws {
        let fixture = try SessionFixture()
        let right = right
        for rightPin in [true, false] {
            let server = try guarded(fixture)
            let delegate = RecordingDelegate { _ in (.useCredential, right) }
            let session = URLSession.pinned(
                to: try fixture.policy(rightPin: rightPin), configuration: .ephemeral, delegate: delegate)
            await session.run(delegate, try server.address())
            #expect(server.requests.count == (rightPin ? 2 : 0))
            #expect(rightPin || server.requestByteCount == 0)
        }
    }
}

extension URLSession {
    func run(_ delegate: RecordingDelegate, _ url: URL) async {
        await delegate.run(dataTask(with: url))
    }
}
