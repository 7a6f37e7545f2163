import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Delegates that answer after the task has ended, or never.
@Suite("Pinned sessions: late answers")
struct SessionLateAnswerTests {
    private func server(_ fixture: SessionFixture, content: String = "xx") throws -> LoopbackTLSServer {
        try fixture.server { request in
            switch request.target {
            case "/guarded":
                let challenges = "Digest realm=\"b\", nonce=\"n\", qop=\"auth\", Basic realm=\"a\""
                return request["authorization"] == nil
                    ? HTTPResponse(
                        status: 401, reason: "Unauthorized", fields: [HTTPField("WWW-Authenticate", challenges)],
                        body: Array(content.utf8)) : .ok
            case "/moved":
                return HTTPResponse(
                    status: 302, reason: "Found", fields: [HTTPField("Location", "/end")], body: Array(content.utf8))
            default: return HTTPResponse(status: 200, reason: "OK", fields: [], body: Array(content.utf8))
            }
        }
    }

    struct Question: CustomTestStringConvertible, Sendable {
        let path: String
        let answer: DelayedDelegate.Answer
        /// The delegate's first callback, and the callback that follows an answer in time.
        let first: String
        let next: String
        var isDownload = false
        var testDescription: String { "\(first), \(answer)\(isDownload ? ", download" : "")" }
    }

    @Test(
        "An answer after the end of a task changes nothing; an answer in time has its effect",
        arguments: [
            Question(path: "guarded", answer: .nothing, first: "challenge b", next: "response 401"),
            Question(
                path: "guarded", answer: .nothing, first: "challenge b", next: "downloaded", isDownload: true),
            Question(path: "guarded", answer: .reject, first: "challenge b", next: "challenge a"),
            Question(path: "guarded", answer: .credential, first: "challenge b", next: "response 200"),
            Question(path: "moved", answer: .nothing, first: "redirect", next: "response 302"),
            Question(path: "moved", answer: .credential, first: "redirect", next: "response 200"),
            Question(path: "stream", answer: .nothing, first: "stream", next: "response 200"),
        ], [true, false])
    func late(question: Question, isLate: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try server(fixture)
        let delegate = DelayedDelegate(question.answer, isLate: isLate)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try server.address(question.path))
        let task: URLSessionTask
        if question.first == "stream" {
            request.httpMethod = "POST"
            task = session.uploadTask(withStreamedRequest: request)
        } else {
            task = question.isDownload ? session.downloadTask(with: request) : session.dataTask(with: request)
        }
        task.resume()
        #expect(await delegate.has(question.first))
        if isLate { task.cancel() }
        #expect(await delegate.has("complete"))
        await delegate.catchUp(on: session)
        guard isLate else {
            #expect(delegate.error == nil)
            #expect(delegate.events.contains(question.next))
            return
        }
        #expect(delegate.error?.code == .cancelled)
        #expect(delegate.error?.isAboutTrust != true)
        #expect(delegate.events == [question.first, "complete"])
        #expect(task.response == nil)
        #expect(task.currentRequest?.url == request.url)
        #expect(server.requests.count == (question.first == "stream" ? 0 : 1))
    }

    @Test(
        "The time limit of the resource ends every wait for a delegate",
        arguments: ["guarded", "moved", "suspended", "stream"], [true, false])
    func overdue(path: String, answers: Bool) async throws {
        let fixture = try SessionFixture()
        // Without content the transfer has already ended, and the task waits only for the answer.
        let server = try server(fixture, content: "")
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForResource = answers ? 60 : 4
        let delegate = DelayedDelegate(.credential, isLate: !answers || path == "suspended")
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration, delegate: delegate)
        // A cycle until then: the delegate holds answers, which hold the session, which holds its delegate.
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try server.address(path))
        if path == "stream" { request.httpMethod = "POST" }
        let task: URLSessionTask =
            path == "stream" ? session.uploadTask(withStreamedRequest: request) : session.dataTask(with: request)
        task.resume()
        if path == "suspended" {
            _ = await delegate.has("response 200")
            task.suspend()
            await delegate.catchUp(on: session)
            if answers { task.resume() }
        }
        #expect(await delegate.has("complete"))
        #expect(delegate.error?.code == (answers ? nil : .timedOut))
        #expect(delegate.error?.isAboutTrust != true)
        #expect(task.state == .completed)
        task.cancel()
    }

    @Test(
        "Truncated content does not matter if another request follows",
        arguments: ["401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"a\"", "302 Found\r\nLocation: /end"],
        [true, false])
    func cut(head: String, isLate: Bool) async throws {
        let fixture = try SessionFixture()
        let count = Atomic<Int>(0)
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            let isFirst = count.add(1, ordering: .relaxed).newValue == 1
            let answer = isFirst ? "\(head)\r\nContent-Length: 10\r\n\r\n" : "200 OK\r\nContent-Length: 0\r\n\r\n"
            try? stream.write(Array("HTTP/1.1 \(answer)".utf8))
        })
        let delegate = DelayedDelegate(.credential, isLate: isLate)
        let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
        let task = session.dataTask(with: try server.address())
        task.resume()
        if isLate {
            #expect(await delegate.has(head.hasPrefix("401") ? "challenge a" : "redirect"))
            // By then the connection is cut.
            try await Task.sleep(for: .milliseconds(300))
            await delegate.catchUp(on: session)
            #expect(await delegate.has("response 200"))
            await delegate.catchUp(on: session)
        }
        #expect(await delegate.has("complete"))
        #expect(delegate.error == nil)
        #expect(delegate.events.contains("response 200"))
    }

    @Test("The file of a download is deleted with its object, unless it was persisted", arguments: [true, false])
    func file(isKept: Bool) throws {
        var file: DownloadFile? = try DownloadFile()
        let path = try #require(file?.url.path)
        #expect(FileManager.default.fileExists(atPath: path))
        if isKept { file?.persist() }
        file = nil
        #expect(FileManager.default.fileExists(atPath: path) == isKept)
        if isKept { try FileManager.default.removeItem(atPath: path) }
    }
}
