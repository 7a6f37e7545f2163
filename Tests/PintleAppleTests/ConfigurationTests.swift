import Foundation
import PintleTestKit
import PintleURLSession
import Testing

@testable import PintleApple

/// The changes that a pinned session makes in its copy of a configuration, and the limit of concurrent evaluations.
@Suite("Apple: limits of a session")
struct ConfigurationTests {
    @Test("Early data is off, whatever the configuration says", arguments: [true, false])
    func earlyData(isOn: Bool) throws {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.enablesEarlyData = isOn
        let session = URLSession.pinned(to: try PinningPolicy(hosts: []), configuration: configuration)
        #expect(!session.current.configuration.enablesEarlyData)
        #expect(configuration.enablesEarlyData == isOn)
        session.invalidateAndCancel()
    }

    @Test("A delegate is told when the events of a background session are finished")
    func events() throws {
        let listener = EventsListener()
        let delegate = PinningSessionDelegate(try PinningPolicy(hosts: []), forwardingTo: listener)
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        delegate.urlSessionDidFinishEvents(forBackgroundURLSession: session)
        #expect(listener.count.withLock { $0 } == 1)
        session.invalidateAndCancel()
    }

    @Test("A delegate is asked for the rest of a body; without a delegate the answer is nil", arguments: [true, false])
    func bodyFromOffset(hasMethod: Bool) throws {
        let listener = EventsListener()
        let delegate = PinningSessionDelegate(
            try PinningPolicy(hosts: []), forwardingTo: hasMethod ? listener : nil)
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: try #require(URL(string: "https://localhost/")))
        let answers = Locked<[Bool]>([])
        delegate.urlSession(session, task: task, needNewBodyStreamFrom: 7) { stream in
            answers.withLock { $0.append(stream != nil) }
        }
        #expect(answers.withLock { $0 } == [hasMethod])
        #expect(listener.offsets.withLock { $0 } == (hasMethod ? [7] : []))
        session.invalidateAndCancel()
    }

    @Test(
        "A delegate is asked for the whole body again; without a delegate the answer is nil", arguments: [true, false])
    func bodyAgain(hasMethod: Bool) throws {
        let listener = EventsListener()
        let delegate = PinningSessionDelegate(
            try PinningPolicy(hosts: []), forwardingTo: hasMethod ? listener : nil)
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: try #require(URL(string: "https://localhost/")))
        let answers = Locked<[String?]>([])
        delegate.urlSession(
            session, task: task,
            needNewBodyStream: { stream in
                stream?.open()
                var buffer = [UInt8](repeating: 0, count: 8)
                let count = stream?.read(&buffer, maxLength: 8)
                let content = count.map { String(decoding: buffer.prefix($0), as: UTF8.self) }
                answers.withLock { $0.append(content) }
            })
        #expect(answers.withLock { $0 } == [hasMethod ? "whole" : nil])
        #expect(listener.wholes.withLock { $0 } == (hasMethod ? [task.taskIdentifier] : []))
        // The delegate's method for an offset was not called.
        #expect(listener.offsets.withLock { $0 } == [])
        session.invalidateAndCancel()
    }

    // This test must not block the queue: other tests wait for it, on the threads that would have to unblock it.
    @Test("The trust queue runs 16 evaluations at once")
    func width() {
        #expect(TrustQueue.queue.maxConcurrentOperationCount == 16)
    }

    @Test("The number of servers that are checked at once is limited")
    func bounded() async throws {
        let source = SlowSource(try PinningPolicy(hosts: []))
        let delegate = PinningSessionDelegate(source)
        let session = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
        let fixture = try SessionFixture(isSystem: true)
        let answers = AsyncStream<Void>.makeStream()
        for _ in 0..<40 {
            delegate.urlSession(session, didReceive: try SessionFixture.challenge(fixture.identity.chain)) { _, _ in
                answers.continuation.yield()
            }
        }
        var count = 0
        for await _ in answers.stream {
            count += 1
            if count == 40 { break }
        }
        #expect(source.most.withLock { $0 } > 1 && source.most.withLock { $0 } <= TrustQueue.width)
        session.invalidateAndCancel()
    }
}

private final class EventsListener: NSObject, URLSessionTaskDelegate {
    let count = Locked(0)
    let offsets = Locked<[Int64]>([])
    let wholes = Locked<[Int]>([])

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        wholes.withLock { $0.append(task.taskIdentifier) }
        completionHandler(InputStream(data: Data("whole".utf8)))
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { count.withLock { $0 += 1 } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
        completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        offsets.withLock { $0.append(offset) }
        completionHandler(InputStream(data: Data()))
    }
}

/// A policy source that counts how many threads ask it at once.
private final class SlowSource: PolicySource {
    private let policy: PinningPolicy
    private let now = Locked(0)
    let most = Locked(0)

    init(_ policy: PinningPolicy) {
        self.policy = policy
    }

    var current: PolicySnapshot {
        let count = now.withLock { now in
            now += 1
            return now
        }
        most.withLock { $0 = max($0, count) }
        Thread.sleep(forTimeInterval: 0.05)
        now.withLock { $0 -= 1 }
        return PolicySnapshot(policy: policy, generation: 0)
    }
}
