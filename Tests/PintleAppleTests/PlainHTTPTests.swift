import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Testing

/// Requests without TLS, for which no verdict is possible.
@Suite("Apple: plain http")
struct PlainHTTPTests {
    /// Policies that refuse a plain request to localhost, and one that allows it.
    private static func policies() throws -> [(policy: PinningPolicy, isAllowed: Bool)] {
        let pin = Pin(.publicKey(try PublicKeyPin(subjectPublicKeyInfo: try PrivateKey().spkiDER)))
        let onPort = try PinnedHost("localhost", port: 8_443, pins: [pin], backup: .noneAccepted)
        let other = try PinnedHost("example.com", pins: [pin], backup: .noneAccepted)
        return [
            (try SessionFixture().policy(), false), (try PinningPolicy(hosts: [onPort]), false),
            (try PinningPolicy(hosts: [], unpinnedHosts: .reject), false),
            (try PinningPolicy(hosts: [], unpinnedHosts: .askUser), false),
            (try PinningPolicy(hosts: [other]), true),
        ]
    }

    private static func isRefusal(_ error: (any Error)?) -> Bool {
        guard let error = error as? URLError, error.code == .appTransportSecurityRequiresSecureConnection else {
            return false
        }
        return (error.userInfo[NSUnderlyingErrorKey] as? SessionError)?.code == .plainHTTP
    }

    @Test("A covered host gets nothing without TLS in any style of task, and another host does")
    func styles() async throws {
        for (policy, isAllowed) in try Self.policies() {
            let plain = try LoopbackTCPServer.http()
            let url = try #require(URL(string: "HTTP://localhost:\(plain.port)/"))
            let teller = RedirectingDelegate()
            let session = URLSession.pinned(to: policy, configuration: .ephemeral, delegate: teller)
            for style in 0..<3 {
                let error: (any Error)?
                switch style {
                case 0:
                    do {
                        _ = try await session.data(from: url)
                        error = nil
                    } catch let thrown { error = thrown }
                case 1:
                    error = await withCheckedContinuation { continuation in
                        session.dataTask(with: url) { continuation.resume(returning: $2) }.resume()
                    }
                default: error = await teller.end(of: session.dataTask(with: url))
                }
                #expect((error == nil) == isAllowed)
                #expect(Self.isRefusal(error) == !isAllowed)
                #expect((error as? URLError)?.failingURL == (isAllowed ? nil : url))
            }
            #expect(plain.connectionCount == (isAllowed ? 3 : 0))
            session.invalidateAndCancel()
        }
    }

    @Test("A redirect over http to a covered host is not followed, and one to another host is")
    func redirect() async throws {
        let target = try LoopbackTCPServer.http()
        let to = "http://localhost:\(target.port)/"
        let source = try LoopbackTCPServer.http { _ in .redirect(to: to) }
        let url = try #require(URL(string: "http://127.0.0.1:\(source.port)/"))
        let (_, stopped) = try await URLSession.pinned(to: try SessionFixture().policy()).data(from: url)
        #expect((stopped as? HTTPURLResponse)?.statusCode == 302)
        #expect(target.connectionCount == 0)
        let (_, followed) = try await URLSession.pinned(to: try PinningPolicy(hosts: [])).data(from: url)
        #expect((followed as? HTTPURLResponse)?.statusCode == 200)
        #expect(target.connectionCount == 1)
    }

    @Test("A delegate cannot change a redirect to http either")
    func redirected() async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let server = try fixture.server { $0.target == "/end" ? .ok : .redirect(to: "/end") }
        for (target, status) in [("http://localhost:\(plain.port)/", 302), (nil, 200)] {
            let teller = RedirectingDelegate(leadingTo: target.flatMap { URL(string: $0) })
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: teller)
            let (_, response) = try await session.data(from: try server.address())
            #expect((response as? HTTPURLResponse)?.statusCode == status)
        }
        #expect(plain.connectionCount == 0)
    }

    /// The system asks no delegate between `resume()` and the request, so the request itself is sent.
    @Test("A task that was made before the policy covered its host gets no response when it is started afterwards")
    func coveredLater() async throws {
        for (next, isAllowed) in try Self.policies() {
            let plain = try LoopbackTCPServer.http()
            let url = try #require(URL(string: "http://localhost:\(plain.port)/"))
            let policy = LivePolicy(try PinningPolicy(hosts: []))
            let teller = RedirectingDelegate()
            let session = URLSession.pinned(to: policy, configuration: .ephemeral, delegate: teller)
            let task = session.dataTask(with: url)
            policy.replace(with: next)
            let error = await teller.end(of: task)
            #expect((error == nil) == isAllowed)
            #expect(Self.isRefusal(error) == !isAllowed)
            #expect((teller.received == 0) == !isAllowed)
            session.invalidateAndCancel()
        }
    }

    @Test("A redirect leads from TLS to TLS only, also for web sockets, and without TLS to no covered host")
    func redirects() throws {
        let fixture = try SessionFixture()
        let delegate = PinningSessionDelegate(try fixture.policy())
        let session = URLSession(configuration: .ephemeral)
        for (source, target, isFollowed) in [
            ("wss://localhost/", "ws://example.com/", false), ("wss://localhost/", "ws://localhost/", false),
            ("wss://localhost/", "wss://example.com/", true), ("ws://example.com/", "ws://localhost/", false),
            ("ws://example.com/", "ws://other.example/", true), ("ws://example.com/", "wss://localhost/", true),
            ("WSS://localhost/", "http://example.com/", false), ("https://localhost/", "ws://example.com/", false),
            ("https://localhost/", "https://example.com/", true),
        ] {
            let url = try #require(URL(string: source))
            let request = URLRequest(url: try #require(URL(string: target)))
            let response = try #require(HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: nil))
            let followed = Locked<[URL?]>([])
            delegate.urlSession(
                session, task: session.dataTask(with: url), willPerformHTTPRedirection: response, newRequest: request
            ) { request in followed.withLock { $0.append(request?.url) } }
            #expect(followed.withLock { $0 } == [isFollowed ? request.url : nil], "\(source) \(target)")
        }
        session.invalidateAndCancel()
    }

    @Test("URLs without TLS are recognized, and a URL that cannot be read is not allowed")
    func addresses() throws {
        let policy = try PinningPolicy(hosts: [])
        for (text, isAllowed) in [
            ("http://example.com/", true), ("http://[::1]:8080/", true), ("http://exa%20mple/", false),
            ("http:///path", false), ("https://exa%20mple/", true),
            ("http://0.0.0.0/", false), ("http://[::]/", false), ("http://[::ffff:127.0.0.1]/", false),
            ("http://127.0.0.1/", true), ("http://[::1]/", true),
        ] {
            #expect(policy.allowsPlainHTTP(to: try #require(URL(string: text))) == isAllowed, "\(text)")
        }
    }
}

/// A delegate that reports how tasks end, and can change the target of redirects.
private final class RedirectingDelegate: NSObject, URLSessionDataDelegate {
    private let target: URL?
    private let ends = AsyncStream<(any Error)?>.makeStream()
    private let count = Locked(0)

    /// The number of bytes that tasks have received.
    var received: Int { count.withLock { $0 } }

    init(leadingTo target: URL? = nil) {
        self.target = target
    }

    func end(of task: URLSessionTask) async -> (any Error)? {
        task.resume()
        for await error in ends.stream { return error }
        return nil
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(target.map { URLRequest(url: $0) } ?? request)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        count.withLock { $0 += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.continuation.yield(error)
    }
}
