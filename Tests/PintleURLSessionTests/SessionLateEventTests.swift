import Foundation
import FoundationNetworking
import Pintle
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Events that the transport's thread delivers while another thread cancels the task.
@Suite("Pinned sessions: events after a cancellation")
struct SessionLateEventTests {
    /// A task whose transfer is never started: the test sends the events.
    private struct LoaderFixture {
        let task: PinnedDataTask
        let transfer: Transfer
        let end = AsyncStream<Result<Data, URLError>>.makeStream()

        init(_ request: URLRequest, on session: PinnedURLSession) throws {
            let continuation = end.continuation
            let task = session.dataTask(with: request) { data, _, error in
                if let data { continuation.yield(.success(data)) }
                if let error = error as? URLError { continuation.yield(.failure(error)) }
            }
            self.task = try #require(task as? PinnedDataTask)
            let loader = self.task.loader
            let transport = try session.resources.transports.transport()
            let translation = RequestTranslation(
                configuration: session.resources.settings, sessionFields: session.resources.fields,
                proxies: session.resources.proxies, generation: transport.generation, hasLeftOrigin: false,
                deadline: .infinity, priority: 0.5)
            var authorization: Authorization?
            let transfer = transport.make(
                try translation.transferRequest(request, content: .none, authorization: &authorization), events: loader)
            self.transfer = transfer
            loader.state.withLock { state in
                _ = state.machine.resume(deadline: .infinity)
                _ = state.machine.opened(Hop(request: request, content: .none))
                _ = state.machine.made(
                    RunningTransfer(transport: transport, transfer: transfer), authorization: nil)
            }
        }

        func receive(_ fields: [(name: String, value: FieldValue)] = []) {
            let head = ResponseHead(status: 200, version: "HTTP/1.1", fields: fields)
            #expect(task.loader.transfer(transfer, didReceive: head) == [])
        }

        func receive(_ text: String) { _ = task.loader.transfer(transfer, didReceive: Data(text.utf8)) }
    }

    private func session(_ fixture: SessionFixture) throws -> PinnedURLSession {
        PinnedURLSession(
            source: LivePolicy(try fixture.policy()), configuration: .ephemeral, delegate: nil, delegateQueue: nil)
    }

    @Test("The idle time-out counts from the last decoded piece, but not while the delegate has a backlog")
    func decoding() throws {
        let request = URLRequest(url: try #require(URL(string: "https://localhost/a")))
        let transfer = try LoaderFixture(request, on: try session(try SessionFixture())).transfer
        for (holds, restarts) in [(TransferHold.decoding, true), ([], true), ([.decoding, .backlog], false)] {
            (transfer.holds, transfer.lastActivity) = (holds, 0)
            transfer.proceed()
            #expect((transfer.lastActivity > 0) == restarts)
        }
    }

    @Test(
        "A response that completes after its task was cancelled changes nothing: the task ends as cancelled",
        arguments: [true, false])
    func lastByte(isCancelled: Bool) async throws {
        let session = try session(try SessionFixture())
        let request = URLRequest(url: try #require(URL(string: "https://localhost/a")))
        let loading = try LoaderFixture(request, on: session)
        loading.receive([("Content-Length", "4")])
        loading.receive("ab")
        if isCancelled { loading.task.cancel() }
        loading.receive("cd")
        loading.task.loader.transfer(loading.transfer, didComplete: nil)
        for await end in loading.end.stream {
            switch end {
            case .success(let data): #expect(!isCancelled && data == Data("abcd".utf8))
            case .failure(let error): #expect(isCancelled && error.code == .cancelled)
            }
            break
        }
        #expect(loading.task.countOfBytesReceived == (isCancelled ? 2 : 4))
    }

    @Test("A head that comes after the task was cancelled does not become its response", arguments: [true, false])
    func head(isCancelled: Bool) async throws {
        let session = try session(try SessionFixture())
        let loading = try LoaderFixture(URLRequest(url: try #require(URL(string: "https://localhost/a"))), on: session)
        if isCancelled { loading.task.cancel() }
        loading.receive()
        #expect((loading.task.response == nil) == isCancelled)
        loading.task.loader.transfer(loading.transfer, didComplete: nil)
        for await end in loading.end.stream {
            switch end {
            case .success: #expect(!isCancelled)
            case .failure(let error): #expect(isCancelled && error.code == .cancelled)
            }
            break
        }
    }
}
