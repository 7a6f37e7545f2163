import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Security
import Testing

/// The calls that pass through the delegate, and their order.
@Suite("Apple: flows of a session")
struct SessionFlowTests {
    @Test("All calls that are not about trust reach the delegate, in order")
    func forwarding() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { request in
            if request.target == "/away" { return .redirect(to: "/here") }
            return request["authorization"] == nil ? .unauthorized() : .ok
        }
        let recorder = Recorder()
        let session = URLSession.pinned(
            to: try fixture.policy(), configuration: .ephemeral, delegate: recorder)
        let task = session.dataTask(with: try server.address("away"))
        await recorder.run(task)
        #expect(
            recorder.events == ["create", "redirect 302", "challenge", "response 200", "data 3", "complete"])
        #expect(recorder.error == nil)
        #expect(server.requests.last?["authorization"] == "Basic " + Data("u:p".utf8).base64EncodedString())

        let download = session.downloadTask(with: URLRequest(url: try server.address()))
        await recorder.run(download)
        #expect(recorder.events.suffix(2) == ["downloaded", "complete"])
        session.finishTasksAndInvalidate()
        #expect(await recorder.isInvalid())
    }

    @Test("A delegate gets the error with its reason, and the error of a cancelled task has none")
    func typedError() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let recorder = Recorder()
        let session = URLSession.pinned(
            to: try fixture.policy(rightPin: false), configuration: .ephemeral, delegate: recorder)
        await recorder.run(session.dataTask(with: try server.address()))
        #expect(TrustRejection(underlying: try #require(recorder.error))?.reason == "pin-mismatch")
        #expect(server.requestByteCount == 0)

        // The server was refused a moment ago, but this task never connected to it.
        let cancelled = session.dataTask(with: try server.address())
        cancelled.cancel()
        await recorder.run(cancelled)
        #expect((recorder.error as? URLError)?.code == .cancelled)
        #expect(TrustRejection(underlying: try #require(recorder.error)) == nil)
    }

    @Test("A task without a recorded start does not get an older refusal as its reason")
    func unknownStart() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let (recorder, url) = (Recorder(), try server.address())
        let ours = PinningSessionDelegate(try fixture.policy(rightPin: false), forwardingTo: recorder)
        let session = URLSession(configuration: .ephemeral, delegate: ours, delegateQueue: nil)
        let pins = try #require(ours.known)
        let mark = pins.mark
        await recorder.run(session.dataTask(with: url))
        // The delegate is not told about tasks of another session, as is the case for all tasks before iOS 16.
        let stranger = URLSession(configuration: .ephemeral)
        let cancelled = URLError(.cancelled, userInfo: [NSURLErrorFailingURLErrorKey: url])
        for (isKnown, reason) in [(false, nil), (true, "pin-mismatch")] {
            let task = stranger.dataTask(with: url)
            if isKnown { pins.recordStart(of: task, at: mark, refusal: nil) }
            ours.urlSession(stranger, task: task, didCompleteWithError: cancelled)
            #expect(TrustRejection(underlying: try #require(recorder.error))?.reason == reason)
        }
        session.invalidateAndCancel()
    }

    @Test("Completion handlers and uploads fail with their reason too")
    func handlers() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { HTTPResponse(status: 200, body: $0.body) }
        for isRight in [true, false] {
            let before = server.requestByteCount
            let session = URLSession.pinned(to: try fixture.policy(rightPin: isRight))
            var request = URLRequest(url: try server.address())
            request.httpMethod = "POST"
            let (data, error) = await withCheckedContinuation { continuation in
                session.uploadTask(with: request, from: Data("secret".utf8)) { data, _, error in
                    continuation.resume(returning: (data, error))
                }.resume()
            }
            #expect(data == (isRight ? Data("secret".utf8) : nil))
            #expect(error.flatMap { TrustRejection(underlying: $0) }?.reason == (isRight ? nil : "pin-mismatch"))
            #expect((server.requestByteCount > before) == isRight)
        }
    }

    @Test("A redirect from https to http is not followed")
    func downgrade() async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let target = "http://localhost:\(plain.port)/"
        let server = try fixture.server { $0.target == "/plain" ? .redirect(to: target) : .redirect(to: "/end") }
        let session = URLSession.pinned(to: try fixture.policy())
        let (_, response) = try await session.data(from: try server.address("plain"))
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
        #expect(plain.connectionCount == 0)
    }

    @Test("A redirect to another server gets a verdict for that server")
    func redirect() async throws {
        let (fixture, other) = (try SessionFixture(), try SessionFixture())
        let target = try other.server()
        let url = try target.address()
        let server = try fixture.server { _ in .redirect(to: url.absoluteString) }
        let error = await #expect(throws: URLError.self) {
            try await URLSession.pinned(to: try fixture.policy()).data(from: try server.address())
        }
        #expect(TrustRejection(underlying: try #require(error))?.reason == "invalid-path")
        #expect(error?.failingURL?.port == Int(target.port))
        #expect(target.requestByteCount == 0)
    }

    @Test("Two dozen challenges at once get their own verdicts, none evaluated on the main thread")
    func concurrent() async throws {
        let fixture = try SessionFixture()
        let (good, bad) = (try fixture.server(), try SessionFixture().server())
        let session = URLSession.pinned(to: try fixture.policy())
        let before = StandIn.mainThreadEvaluationCount
        let reasons = await withTaskGroup(of: String?.self) { group in
            for index in 0..<24 {
                group.addTask {
                    do {
                        _ = try await session.data(from: try (index.isMultiple(of: 2) ? good : bad).address())
                        return nil
                    } catch {
                        return TrustRejection(underlying: error)?.reason ?? "\(error)"
                    }
                }
            }
            return await group.reduce(into: [String?]()) { $0.append($1) }
        }
        #expect(reasons.count { $0 == nil } == 12)
        #expect(reasons.count { $0 == "invalid-path" } == 12)
        #expect(good.requests.count == 12 && bad.requestByteCount == 0)
        #expect(StandIn.mainThreadEvaluationCount == before)
    }

    @Test("With the main queue as the delegate queue, nothing is evaluated there")
    func mainQueue() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let (evaluations, before) = (StandIn.evaluationCount, StandIn.mainThreadEvaluationCount)
        let session = URLSession.pinned(
            to: try fixture.policy(), configuration: .ephemeral, delegate: Recorder(), delegateQueue: .main)
        #expect(try await session.data(from: try server.address()).0.count == 3)
        #expect(StandIn.evaluationCount > evaluations)
        #expect(StandIn.mainThreadEvaluationCount == before)
    }

    @Test("A task that is cancelled in the handshake ends as cancelled")
    func cancelled() async throws {
        let fixture = try SessionFixture()
        var configuration = TLSServerConfiguration(.init(fixture.identity))
        configuration.stall = .midHandshake(seconds: 60)
        let server = try LoopbackTLSServer(configuration)
        let session = URLSession.pinned(to: try fixture.policy())
        let work = Task { try await session.data(from: try server.address()) }
        for _ in 0..<500 where server.connectionCount == 0 { try await Task.sleep(for: .milliseconds(10)) }
        work.cancel()
        let error = await #expect(throws: URLError.self) { try await work.value }
        #expect(error?.code == .cancelled)
        #expect(TrustRejection(underlying: try #require(error)) == nil)
        #expect(server.requestByteCount == 0)
    }

    @Test("The delegate is told once about the end of the session, however often the policy has changed")
    func invalidation() async throws {
        let fixture = try SessionFixture()
        let policy = LivePolicy(try fixture.policy())
        let recorder = Recorder()
        let session = URLSession.pinned(to: policy, configuration: .ephemeral, delegate: recorder)
        for _ in 0..<3 {
            policy.replace(with: try fixture.policy())
            _ = session.current
        }
        session.invalidateAndCancel()
        #expect(await recorder.isInvalid())
        #expect(recorder.events == ["invalid"])
    }
}

/// A delegate that records its callbacks in order.
private final class Recorder: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate {
    private struct Log: Sendable {
        var events: [String] = []
        var error: (any Error)?
    }

    private let log = Locked(Log())
    private let finished = AsyncStream<Void>.makeStream()

    var events: [String] { log.withLock { $0.events } }
    var error: (any Error)? { log.withLock { $0.error } }

    func run(_ task: URLSessionTask) async {
        task.resume()
        for await _ in finished.stream { return }
    }

    func isInvalid() async -> Bool {
        for _ in 0..<500 where events.last != "invalid" { try? await Task.sleep(for: .milliseconds(10)) }
        return events.last == "invalid"
    }

    private func note(_ event: String) { log.withLock { $0.events.append(event) } }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) { note("invalid") }

    func urlSession(_ session: URLSession, didCreateTask task: URLSessionTask) { note("create") }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        note("challenge")
        completionHandler(.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note("redirect \(response.statusCode)")
        completionHandler(request)
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        note("data \(data.count)")
    }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {
        note("downloaded")
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.withLock { $0.error = error }
        note("complete")
        finished.continuation.yield()
    }
}
