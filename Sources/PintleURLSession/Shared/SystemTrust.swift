internal import Foundation
internal import Pintle

#if PINTLE_APPLE
import Security
#else
internal import FoundationNetworking
#endif

/// Connections that only the system's trust decides about, for requests that must not depend on the app's own pins.
///
/// Only `https`; no cookies, no cache, no credentials.
struct SystemTrust: Sendable {
    /// For tests, whose servers no system trusts; else `nil`, no rule at all.
    let policy: PinningPolicy?

    /// A request to a URL, which its time-out ends as a whole.
    func request(_ text: String, timeout: Double) throws -> URLRequest {
        guard let url = URL(string: text), url.scheme?.lowercased() == "https" else {
            throw URLError(.unsupportedURL)
        }
        return URLRequest(url: url, timeoutInterval: timeout)
    }

    /// Makes a request in a session of its own.
    func load<Value>(
        _ request: URLRequest, _ outcome: TaskOutcome<Value>, delegate: any URLSessionDataDelegate
    ) async throws -> Value {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = request.timeoutInterval
        configuration.timeoutIntervalForResource = request.timeoutInterval
        configuration.httpShouldSetCookies = false
        let session = URLSession.pinned(
            to: try policy ?? PinningPolicy(hosts: []), configuration: configuration, delegate: delegate)
        defer { session.finishTasksAndInvalidate() }
        return try await outcome.value(of: session.dataTask(with: request))
    }
}
