import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Testing

/// Background sessions follow redirects without asking, so the delegate checks a response when it arrives.
@Suite("Apple: redirects in the background")
struct ArrivalTests {
    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.identifier = UUID().uuidString
        return configuration
    }

    @Test("A response over http after a request over https is refused on arrival, and the delegate gets none of it")
    func downgraded() async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        // The target's host is not covered by the policy.
        let target = "http://127.0.0.1:\(plain.port)/"
        let server = try fixture.server { $0.target == "/away" ? .redirect(to: target) : .ok }
        for (path, isRefused) in [("away", true), ("here", false)] {
            let recorder = ArrivalRecorder()
            let session = URLSession.pinned(
                to: try fixture.policy(), configuration: Self.configuration, delegate: recorder)
            let url = try server.address(path)
            for task in [session.dataTask(with: url), session.downloadTask(with: URLRequest(url: url))] {
                let error = await recorder.end(of: task)
                #expect(Self.refusal(error) == (isRefused ? .insecureRedirect : nil))
                #expect((error == nil) == !isRefused)
            }
            #expect(recorder.events == (isRefused ? [] : ["response", "data", "file"]))
            session.invalidateAndCancel()
        }
    }

    @Test("A response over http from a covered host is refused, even if the request was over http")
    func covered() async throws {
        let fixture = try SessionFixture()
        let target = try LoopbackTCPServer.http()
        let source = try LoopbackTCPServer.http { _ in .redirect(to: "http://localhost:\(target.port)/") }
        let url = try #require(URL(string: "http://127.0.0.1:\(source.port)/"))
        for isCovered in [true, false] {
            let recorder = ArrivalRecorder()
            let session = URLSession.pinned(
                to: try fixture.policy(host: isCovered ? "localhost" : "other.test"),
                configuration: Self.configuration, delegate: recorder)
            let error = await recorder.end(of: session.dataTask(with: url))
            #expect(Self.refusal(error) == (isCovered ? .plainHTTP : nil))
            #expect(recorder.events == (isCovered ? [] : ["response", "data"]))
            session.invalidateAndCancel()
        }
    }

    @Test("A response over http from an alias of this machine's address is refused, and the error names the address")
    func alias() async throws {
        let target = try LoopbackTCPServer.http()
        for (host, isAlias) in [("0.0.0.0", true), ("127.0.0.1", false)] {
            let source = try LoopbackTCPServer.http { _ in .redirect(to: "http://\(host):\(target.port)/") }
            let url = try #require(URL(string: "http://127.0.0.1:\(source.port)/"))
            // The policy covers neither host.
            let policy = try PinningPolicy(hosts: [])
            let (own, foreign) = (ArrivalRecorder(), ArrivalRecorder())
            let session = URLSession.pinned(to: policy, configuration: Self.configuration, delegate: own)
            let other = URLSession(
                configuration: Self.configuration, delegate: PinningSessionDelegate(policy, forwardingTo: foreign),
                delegateQueue: nil)
            let errors = [
                await own.end(of: session.dataTask(with: url)), await foreign.end(of: other.dataTask(with: url)),
            ]
            for error in errors.map({ $0 as? URLError }) {
                #expect(error?.code == (isAlias ? .badURL : nil))
                let text =
                    "0.0.0.0 is the unspecified address, which no host has; write 127.0.0.1 or [::1] for this machine"
                #expect(error?.localizedDescription == (isAlias ? text : nil))
            }
            let refusal = (errors[0] as? URLError)?.userInfo[NSUnderlyingErrorKey] as? SessionError
            #expect(refusal?.code == (isAlias ? .invalidRequest : nil))
            #expect(own.events == (isAlias ? [] : ["response", "data"]) && foreign.events == own.events)
            session.invalidateAndCancel()
            other.invalidateAndCancel()
        }
    }

    @Test("The delegate of a session that was made elsewhere also refuses such a response")
    func delegate() async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let server = try fixture.server { _ in .redirect(to: "http://127.0.0.1:\(plain.port)/") }
        let recorder = ArrivalRecorder()
        let session = URLSession(
            configuration: Self.configuration,
            delegate: PinningSessionDelegate(try fixture.policy(), forwardingTo: recorder), delegateQueue: nil)
        let error = await recorder.end(of: session.dataTask(with: try server.address()))
        #expect((error as? URLError)?.code == .appTransportSecurityRequiresSecureConnection)
        #expect(recorder.events.isEmpty)
        session.invalidateAndCancel()
    }

    private static func refusal(_ error: (any Error)?) -> SessionError.Code? {
        let underlying = (error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? SessionError
        return (error as? URLError)?.code == .appTransportSecurityRequiresSecureConnection ? underlying?.code : nil
    }
}

/// A delegate that records the callbacks of tasks that run one after the other.
private final class ArrivalRecorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    private let ends = AsyncStream<(any Error)?>.makeStream()
    private let state = Locked<[String]>([])

    var events: [String] { state.withLock { $0 } }

    func end(of task: URLSessionTask) async -> (any Error)? {
        task.resume()
        for await error in ends.stream { return error }
        return nil
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        state.withLock { $0.append("response") }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        state.withLock { $0.append("data") }
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        state.withLock { $0.append("file") }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        ends.continuation.yield(error)
    }
}
