internal import Foundation
internal import Pintle

#if !PINTLE_APPLE
internal import FoundationNetworking
#endif

/// Connections that are checked only by the system's trust, for requests that must not depend on the app's own pins.
///
/// Only `https`; no cookies, no cache, no credentials.
struct SystemTrust: Sendable {
    /// The policy of tests, because no system trusts their servers; otherwise `nil`, which means no rule at all.
    let policy: PinningPolicy?

    /// Returns a request to a URL. The time-out limits the request as a whole.
    func request(_ text: String, timeout: Double) throws -> URLRequest {
        guard let url = URL(string: text), url.scheme?.lowercased() == "https" else {
            throw URLError(.unsupportedURL)
        }
        return URLRequest(url: url, timeoutInterval: timeout)
    }

    /// Makes a request in a session of its own.
    func load(
        _ request: URLRequest, _ outcome: TaskOutcome, delegate: any URLSessionDataDelegate
    ) async throws -> (Data, HTTPURLResponse) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = request.timeoutInterval
        configuration.timeoutIntervalForResource = request.timeoutInterval
        configuration.httpShouldSetCookies = false
        let session = URLSession.pinned(
            to: try policy ?? PinningPolicy(hosts: []), configuration: configuration, delegate: delegate)
        defer { session.finishTasksAndInvalidate() }
        let task = session.dataTask(with: request)
        let product = try await outcome.value(start: { task.resume() }, cancel: { task.cancel() })
        guard let response = product.response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        return (product.content, response)
    }
}
