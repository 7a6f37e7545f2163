internal import Foundation
internal import Pintle
public import PintleUpdates

#if !PINTLE_APPLE
internal import FoundationNetworking
#endif

/// A transport that fetches updates over connections that are checked only by the system's trust.
///
/// The app's pins do not apply: the signature protects an update, and a wrong pin must not block the update that
/// repairs it. The transport uses only `https`, also after redirects. It uses no cookies, no cache and no credentials.
public struct SystemTrustTransport: UpdateTransport {
    private let trust: SystemTrust

    /// Makes a transport that sends no cookies or credentials and reads no cache.
    public init() {
        trust = SystemTrust(policy: nil)
    }

    /// Makes a transport for tests, because no system trusts their servers.
    package init(policy: PinningPolicy) {
        trust = SystemTrust(policy: policy)
    }

    /// Fetches an update.
    ///
    /// - Throws: `URLError`: `dataLengthExceedsMaximum` if the response is too long, `badServerResponse` for any status
    ///   but 200 and 304.
    public func fetch(_ request: UpdateRequest) async throws -> UpdateResponse {
        var question = try trust.request(request.url.absoluteString, timeout: request.timeoutSeconds)
        question.setValue("application/json", forHTTPHeaderField: "Accept")
        if let tag = request.entityTag { question.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        let collector = Collector(maximumBytes: request.maximumBytes)
        let (content, response) = try await trust.load(question, collector.outcome, delegate: collector)
        switch response.statusCode {
        case 200: return .document([UInt8](content), entityTag: response.value(forHTTPHeaderField: "ETag"))
        case 304 where request.entityTag != nil: return .notModified
        default: throw URLError(.badServerResponse)
        }
    }
}

/// A delegate that collects the content of a task, up to a limit.
private final class Collector: NSObject, URLSessionDataDelegate, Sendable {
    private struct State: Sendable {
        var content = Data()
        var isTooLarge = false
    }

    let outcome = TaskOutcome()
    private let state = Locked(State())
    private let maximumBytes: Int

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            state.isTooLarge = state.isTooLarge || state.content.count + data.count > maximumBytes
            if !state.isTooLarge { state.content.append(data) }
            return state.isTooLarge
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (isTooLarge, content) = state.withLock { ($0.isTooLarge, $0.content) }
        if isTooLarge {
            outcome.settle(.failure(URLError(.dataLengthExceedsMaximum)))
        } else if let error {
            outcome.settle(.failure(error))
        } else if let response = task.response {
            outcome.settle(.success(TaskOutcome.Product(content: content, response: response)))
        } else {
            outcome.settle(.failure(URLError(.badServerResponse)))
        }
    }
}
