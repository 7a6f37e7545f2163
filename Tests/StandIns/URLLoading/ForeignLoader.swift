internal import Foundation
internal import FoundationNetworking

/// A `URLProtocol` class that other code has put into a configuration. The system asks it before its own classes, and
/// it may load a request in any way.
final class ForeignLoader {
    private let kind: URLProtocol.Type
    private let request: URLRequest

    /// Returns `nil` if no such class accepts the request.
    init?(_ request: URLRequest, _ configuration: URLSessionConfiguration) {
        let kind = configuration.protocolClasses?.lazy.compactMap { $0 as? URLProtocol.Type }.first { kind in
            !String(reflecting: kind).hasPrefix("FoundationNetworking.") && kind.canInit(with: request)
        }
        guard let kind else { return nil }
        (self.kind, self.request) = (kind, request)
    }

    /// - Returns: The response and its content; `nil` if the class failed, or gave no response before it returned.
    func run() -> (HTTPURLResponse, Data)? {
        let client = Client()
        kind.init(request: request, cachedResponse: nil, client: client).startLoading()
        return client.response.map { ($0, client.data) }
    }

    // `@unchecked`: only the thread that runs the loader uses it.
    private final class Client: NSObject, URLProtocolClient, @unchecked Sendable {
        var response: HTTPURLResponse?
        var data = Data()

        func urlProtocol(_ protocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse) {}
        func urlProtocol(_ protocol: URLProtocol, cachedResponseIsValid cachedResponse: CachedURLResponse) {}
        func urlProtocol(
            _ protocol: URLProtocol, didReceive response: URLResponse,
            cacheStoragePolicy policy: URLCache.StoragePolicy
        ) {
            self.response = response as? HTTPURLResponse
        }
        func urlProtocol(_ protocol: URLProtocol, didLoad data: Data) { self.data += data }
        func urlProtocolDidFinishLoading(_ protocol: URLProtocol) {}
        func urlProtocol(_ protocol: URLProtocol, didFailWithError error: any Error) { response = nil }
        func urlProtocol(
            _ protocol: URLProtocol, didReceive challenge: FoundationNetworking.URLAuthenticationChallenge
        ) {}
        func urlProtocol(
            _ protocol: URLProtocol, didCancel challenge: FoundationNetworking.URLAuthenticationChallenge
        ) {}
    }
}
