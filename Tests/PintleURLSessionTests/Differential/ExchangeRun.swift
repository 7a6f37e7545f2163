import Foundation
import FoundationNetworking
import PintleTestKit
import PintleURLSession
import Synchronization

/// A run of an exchange through a session, against a server of its own.
struct ExchangeRun {
    let exchange: Exchange
    let makeSession: @Sendable (URLSessionConfiguration, any URLSessionDelegate) -> URLSession

    func observe() async throws -> Observation {
        let seen = Mutex<[HTTPRequest]>([])
        let answer = exchange.answer
        let server = try LoopbackTCPServer.http { request in
            seen.withLock { $0.append(request) }
            return answer(request)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [:]
        exchange.configure(configuration)
        let body = Data(repeating: 0x62, count: 5)
        let delegate = RecordingDelegate(
            answer: exchange.challenge, stream: { InputStream(data: body) }, follows: exchange.followsRedirects)
        let session = makeSession(configuration, exchange.hasOwnDelegate ? RecordingDelegate() : delegate)
        let request = try exchange.request(to: server.port)
        if exchange.isRepeated { _ = try await session.data(for: request) }

        var observation = Observation()
        switch exchange.style {
        case .asynchronous:
            do {
                let (data, response) = try await session.data(for: request)
                observation.take(data, response, nil)
            } catch {
                observation.take(nil, nil, error)
            }
        case .completionHandler:
            let (data, response, error) = await withCheckedContinuation { continuation in
                session.dataTask(with: request) { continuation.resume(returning: ($0, $1, $2)) }.resume()
            }
            observation.take(data, response, error)
        case .asynchronousDelegate, .downloadAsynchronousDelegate:
            do {
                if case .asynchronousDelegate = exchange.style {
                    let (data, response) = try await session.data(for: request, delegate: delegate)
                    observation.take(data, response, nil)
                } else {
                    let (file, response) = try await session.download(for: request, delegate: delegate)
                    observation.take(try Data(contentsOf: file), response, nil)
                    try FileManager.default.removeItem(at: file)
                }
            } catch {
                observation.take(nil, nil, error)
            }
            // The call may return before its delegate has got all callbacks.
            await withCheckedContinuation { continuation in
                session.delegateQueue.addOperation { continuation.resume() }
            }
            observation.aspects["events"] = delegate.events.joined(separator: ", ")
        case .download:
            let (data, response, error) = await withCheckedContinuation { continuation in
                session.downloadTask(with: request) { url, response, error in
                    continuation.resume(returning: (url.flatMap { try? Data(contentsOf: $0) }, response, error))
                }.resume()
            }
            observation.take(data, response, error)
        default:
            let files = try TemporaryDirectory()
            let task = try task(session, request, files)
            switch exchange.style {
            case .cancelledEarly:
                task.cancel()
                await delegate.run(task)
            case .cancelledLate:
                async let run: Void = delegate.run(task)
                for _ in 0..<1_000 where seen.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(5)) }
                task.cancel()
                await run
            default: await delegate.run(task)
            }
            let log = delegate.log.withLock { $0 }
            observation.take(log.error == nil ? log.data : nil, log.error == nil ? task.response : nil, log.error)
            observation.aspects["events"] = delegate.events.joined(separator: ", ")
            observation.aspects["sent"] = "\(task.countOfBytesSent)"
        }
        observation.aspects["requests"] = Observation.seen(seen.withLock { $0 })
        session.finishTasksAndInvalidate()
        return observation
    }

    private func task(
        _ session: URLSession, _ request: URLRequest, _ files: TemporaryDirectory
    ) throws -> URLSessionTask {
        switch exchange.style {
        case .uploadData(let count): return session.uploadTask(with: request, from: Data(repeating: 0x61, count: count))
        case .uploadFile(let count):
            try files.write(String(repeating: "a", count: count), to: "file")
            return session.uploadTask(with: request, fromFile: URL(fileURLWithPath: files.path(of: "file")))
        case .uploadMissingFile:
            return session.uploadTask(with: request, fromFile: URL(fileURLWithPath: files.path(of: "none")))
        case .uploadStream: return session.uploadTask(withStreamedRequest: request)
        case .downloadDelegate: return session.downloadTask(with: request)
        default: return session.dataTask(with: request)
        }
    }
}
