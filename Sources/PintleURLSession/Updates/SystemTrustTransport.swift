internal import Foundation
internal import Pintle
public import PintleUpdates

#if PINTLE_APPLE
import Security
#else
internal import FoundationNetworking
#endif

/// Fetches updates over connections that the system's trust alone decides about.
///
/// No pin of the app counts here: the signature protects an update, and a pin that went wrong must not keep its own remedy
/// away. Only `https`, redirects included; no cookies, no cache, no credentials.
public struct SystemTrustTransport: UpdateTransport {
    /// `nil`: no rule at all.
    private let policy: PinningPolicy?

    public init() {
        policy = nil
    }

    /// For tests, whose servers no system trusts.
    package init(policy: PinningPolicy) {
        self.policy = policy
    }

    /// - Throws: `URLError`: `dataLengthExceedsMaximum` for too much, `badServerResponse` for any status but 200 and 304.
    public func fetch(_ request: UpdateRequest) async throws -> UpdateResponse {
        guard let url = URL(string: request.url), url.scheme?.lowercased() == "https" else {
            throw URLError(.unsupportedURL)
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = request.timeout
        configuration.timeoutIntervalForResource = request.timeout
        configuration.httpShouldSetCookies = false
        let collector = Collector(maximumBytes: request.maximumBytes)
        let policy = try self.policy ?? PinningPolicy(hosts: [])
        let session = URLSession.pinned(to: policy, configuration: configuration, delegate: collector)
        defer { session.finishTasksAndInvalidate() }
        var question = URLRequest(url: url)
        question.setValue("application/json", forHTTPHeaderField: "Accept")
        if let tag = request.entityTag { question.setValue(tag, forHTTPHeaderField: "If-None-Match") }
        let task = session.dataTask(with: question)
        let (response, bytes) = try await withTaskCancellationHandler {
            try await collector.run(task)
        } onCancel: {
            task.cancel()
        }
        switch response.statusCode {
        case 200: return .document(bytes, entityTag: response.value(forHTTPHeaderField: "ETag"))
        case 304 where request.entityTag != nil: return .notModified
        default: throw URLError(.badServerResponse)
        }
    }
}

/// Keeps what a task receives, up to a limit.
private final class Collector: NSObject, URLSessionDataDelegate, Sendable {
    private struct State: Sendable {
        var bytes: [UInt8] = []
        var isTooLarge = false
        var continuation: CheckedContinuation<(HTTPURLResponse, [UInt8]), any Error>?
        /// What came of the task: one that is cancelled may be complete before anybody waits for it.
        var result: Result<(HTTPURLResponse, [UInt8]), any Error>?
    }

    private let state = Locked(State())
    private let maximumBytes: Int

    init(maximumBytes: Int) {
        self.maximumBytes = maximumBytes
    }

    func run(_ task: URLSessionDataTask) async throws -> (HTTPURLResponse, [UInt8]) {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.continuation = continuation }
                return state.result
            }
            if let result { continuation.resume(with: result) } else { task.resume() }
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isTooLarge = state.withLock { state in
            state.isTooLarge = state.isTooLarge || state.bytes.count + data.count > maximumBytes
            if !state.isTooLarge { state.bytes.append(contentsOf: data) }
            return state.isTooLarge
        }
        if isTooLarge { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let (continuation, result) = state.withLock { state in
            defer { state.continuation = nil }
            let result: Result<(HTTPURLResponse, [UInt8]), any Error> =
                if state.isTooLarge {
                    .failure(URLError(.dataLengthExceedsMaximum))
                } else if let error {
                    .failure(error)
                } else if let response = task.response as? HTTPURLResponse {
                    .success((response, state.bytes))
                } else {
                    .failure(URLError(.badServerResponse))
                }
            state.result = result
            return (state.continuation, result)
        }
        continuation?.resume(with: result)
    }
}
