import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Synchronization
import Testing

/// Each hop is a transfer of its own, checked again.
@Suite("Pinned sessions: redirects")
struct SessionRedirectTests {
    @Test(
        "A redirect to a host with another key is refused there; with the right key it is followed",
        arguments: [true, false])
    func otherHost(rightPin: Bool) async throws {
        let fixture = try SessionFixture()
        let target = try fixture.server()
        let server = try fixture.server { _ in .redirect(to: target.url(host: "127.0.0.1")) }
        let key = rightPin ? fixture.identity.certificate.spkiDER : try PrivateKey().spkiDER
        let policy = try PinningPolicy(
            hosts: [
                try #require(try fixture.policy().hosts.first),
                try PinnedHost(
                    "127.0.0.1", pins: [Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: key)))],
                    backup: .noneAccepted, anchors: .only([try Certificate(der: fixture.root.certificate.der)])),
            ])
        let session = URLSession.pinned(to: policy)
        if rightPin {
            let (_, response) = try await session.data(from: try server.address())
            #expect(response.url?.host == "127.0.0.1")
            #expect(response.trustReceipt?.endpoint.host.description == "127.0.0.1")
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(TrustRejection(underlying: try #require(error))?.reason == "pin-mismatch")
            #expect(target.requestByteCount == 0)
        }
    }

    @Test(
        "A redirect over http to an alias of an address is refused, and the error names the alias",
        arguments: [("0.0.0.0", "is the unspecified address"), ("[::ffff:127.0.0.1]", "in the form of IPv6")])
    func alias(host: String, text: String) async throws {
        let target = try LoopbackTCPServer.http()
        let aliased = "http://\(host):\(target.port)/"
        let source = try LoopbackTCPServer.http { request in
            .redirect(to: request.target == "/alias" ? aliased : "http://127.0.0.1:\(target.port)/")
        }
        let url = try #require(URL(string: "http://127.0.0.1:\(source.port)/"))
        // The policy covers neither host.
        let session = URLSession.pinned(to: try PinningPolicy(hosts: []))
        let error = await #expect(throws: URLError.self) {
            try await session.data(from: url.appendingPathComponent("alias"))
        }
        #expect(error?.code == .badURL && error?.refusal == .invalidRequest && error?.isAboutTrust == false)
        #expect(error?.localizedDescription.contains(text) == true, "\(error as Any)")
        #expect(target.connectionCount == 0)
        #expect(try await session.data(from: url).0.count == 3)
        #expect(target.connectionCount == 1)
    }

    @Test(
        "A redirect from https to http is refused even to hosts that allow http; one to https is followed",
        arguments: [true, false])
    func downgrade(isSecure: Bool) async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let secure = try fixture.server()
        let insecure = "http://127.0.0.1:\(plain.port)/"
        let server = try fixture.server { _ in .redirect(to: isSecure ? secure.url() : insecure) }
        let session = URLSession.pinned(to: try fixture.policy())
        if isSecure {
            #expect(try await session.data(from: try server.address()).0.count == 3)
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error?.code == .appTransportSecurityRequiresSecureConnection)
            #expect(error?.isAboutTrust == false)
            #expect(error?.refusal == .insecureRedirect)
            #expect(error?.localizedDescription.contains("from https to http") == true)
            #expect(plain.connectionCount == 0)
            // Without a redirect a request to this URL is allowed.
            #expect(try await session.data(from: try #require(URL(string: insecure))).0.count == 3)
        }
    }

    @Test("Credentials stay with their origin", arguments: [true, false])
    func credentials(sameOrigin: Bool) async throws {
        let fixture = try SessionFixture()
        let target = try fixture.server()
        let server = try fixture.server { request in
            if request.target == "/end" { return .ok }
            return .redirect(to: sameOrigin ? "/end" : target.url())
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Authorization": "Bearer session", "X-Kept": "yes"]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        var request = URLRequest(url: try server.address())
        request.setValue("k=v", forHTTPHeaderField: "Cookie")
        request.setValue("named.example", forHTTPHeaderField: "Host")
        _ = try await session.data(for: request)
        let last = try #require((sameOrigin ? server : target).requests.last)
        #expect(last["authorization"] == (sameOrigin ? "Bearer session" : nil))
        #expect(last["cookie"] == (sameOrigin ? "k=v" : nil))
        #expect(last["host"] == (sameOrigin ? "named.example" : "localhost:\(target.port)"))
        #expect(last["x-kept"] == "yes")
    }

    @Test(
        "The status decides about the method and the content of the next request",
        arguments: [(302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
    func methods(status: Int, method: String) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            request.target == "/end" ? .ok : .redirect(to: "/end", status: status)
        }
        var request = URLRequest(url: try server.address())
        request.httpMethod = "POST"
        _ = try await URLSession.pinned(to: try fixture.policy()).upload(for: request, from: Data("body".utf8))
        let last = try #require(server.requests.last)
        #expect(last.method == method)
        #expect(last.body == (method == "POST" ? Array("body".utf8) : []))
        #expect(server.completedHandshakeCount == 1)
    }

    @Test("Content that the delegate removes is not sent after the redirect", arguments: [true, false], [true, false])
    func removedContent(isRemoved: Bool, isTask: Bool) async throws {
        let fixture = try SessionFixture()
        let target = try fixture.server()
        let server = try fixture.server { _ in .redirect(to: target.url(), status: 307) }
        let recorder = Recorder(redirects: { next in
            var next = next
            if isRemoved { next.httpBody = nil }
            return next
        })
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        var request = URLRequest(url: try server.address())
        request.httpMethod = "POST"
        request.httpBody = Data("secret".utf8)
        if isTask {
            await recorder.run(session.dataTask(with: request))
        } else {
            _ = try await session.data(for: request)
        }
        let last = try #require(target.requests.last)
        #expect(last.method == "POST")
        #expect(last.body == (isRemoved ? [] : Array("secret".utf8)))
    }

    @Test("The delegate decides whether a redirect is followed", arguments: [true, false])
    func delegate(follows: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in request.target == "/end" ? .ok : .redirect(to: "/end") }
        let recorder = Recorder(redirects: { follows ? $0 : nil })
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        await recorder.run(session.dataTask(with: try server.address()))
        #expect(
            recorder.events
                == (follows
                    ? ["redirect 302", "response 200", "data", "complete"]
                    : ["redirect 302", "response 302", "complete"]))
    }

    @Test("A delegate may give another origin credentials of its own, but cannot leave TLS", arguments: [true, false])
    func delegateRequest(isSecure: Bool) async throws {
        let fixture = try SessionFixture()
        let target = try fixture.server()
        let server = try fixture.server { _ in .redirect(to: target.url()) }
        let insecure = try #require(URL(string: "http://127.0.0.1:\(target.port)/"))
        let recorder = Recorder { request in
            var request = request
            if !isSecure { request.url = insecure }
            request.setValue("Bearer other", forHTTPHeaderField: "Authorization")
            return request
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Authorization": "Bearer session"]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration, delegate: recorder)
        await recorder.run(session.dataTask(with: try server.address()))
        let error = recorder.log.withLock { $0.error }
        if isSecure {
            #expect(error == nil)
            #expect(target.requests.last?["authorization"] == "Bearer other")
        } else {
            #expect((error as? URLError)?.code == .appTransportSecurityRequiresSecureConnection)
            #expect(target.connectionCount == 0)
        }
    }

    /// A delegate that answers every question twice, differently the second time.
    private final class TwiceAnsweringDelegate: NSObject, URLSessionDataDelegate, Sendable {
        let error = Mutex<(any Error)?>(nil)
        private let elsewhere: URL
        private let finished = AsyncStream<Void>.makeStream()

        init(elsewhere: URL) {
            self.elsewhere = elsewhere
        }

        func run(_ task: URLSessionTask) async {
            task.resume()
            for await _ in finished.stream { return }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(request)
            completionHandler(URLRequest(url: elsewhere))
            completionHandler(nil)
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            completionHandler(.allow)
            completionHandler(.cancel)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            self.error.withLock { $0 = error }
            finished.continuation.yield()
        }
    }

    @Test("Only a delegate's first answer counts")
    func answersTwice() async throws {
        let fixture = try SessionFixture()
        let other = try fixture.server()
        let server = try fixture.server { request in request.target == "/end" ? .ok : .redirect(to: "/end") }
        let delegate = TwiceAnsweringDelegate(elsewhere: try other.address())
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        let task = session.dataTask(with: try server.address())
        await delegate.run(task)
        #expect(delegate.error.withLock { $0 } == nil)
        #expect((task.response as? HTTPURLResponse)?.statusCode == 200)
        #expect(server.requests.map(\.target) == ["/", "/end"])
        #expect(other.connectionCount == 0)
    }

    @Test("A redirect loop ends with an error")
    func circle() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { _ in .redirect(to: "/again") }
        let error = await #expect(throws: URLError.self) {
            try await URLSession.pinned(to: try fixture.policy()).data(from: try server.address())
        }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(error?.isAboutTrust == false)
        #expect(server.requests.count == 21)
    }
}
