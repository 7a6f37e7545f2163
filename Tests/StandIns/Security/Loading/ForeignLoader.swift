internal import Foundation
internal import FoundationNetworking

/// A loader that something has put into a configuration. The system asks it before its own, and it carries a request as
/// it likes.
final class ForeignLoader {
    private let kind: URLProtocol.Type
    private let request: URLRequest

    /// `nil` where no such loader takes the request.
    init?(_ request: URLRequest, _ configuration: URLSessionConfiguration) {
        let kind = configuration.protocolClasses?.lazy.compactMap { $0 as? URLProtocol.Type }.first { kind in
            !String(reflecting: kind).hasPrefix("FoundationNetworking.") && kind.canInit(with: request)
        }
        guard let kind else { return nil }
        (self.kind, self.request) = (kind, request)
    }

    /// - Returns: `nil` where it has failed, or given no response by the time that it returns.
    func run() -> (HTTPURLResponse, Data)? {
        let client = Client()
        kind.init(request: request, cachedResponse: nil, client: client).startLoading()
        return client.response.map { ($0, client.data) }
    }

    // Sendable: only the thread that runs the loader touches it.
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
