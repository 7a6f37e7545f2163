internal import Foundation
internal import FoundationNetworking

/// The guard in front of Foundation's own loader, which cannot pin: whatever reaches it is refused.
///
/// A pinned session is a subclass whose overrides never get there. But `data(for:delegate:)` and its like
/// are not open, so a module that does not import this one calls Foundation's, on the same session.
final class PinningURLProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canInit(with task: URLSessionTask) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let isSocket = task is URLSessionWebSocketTask || ["ws", "wss"].contains(request.url?.scheme?.lowercased())
        let what =
            switch task {
            case _ where isSocket: "a web socket"
            case is URLSessionDownloadTask: "a download"
            case is URLSessionUploadTask: "an upload"
            default: "a request"
            }
        let refusal = SessionRefusal(
            .stockLoader, "\(what) of a PinnedURLSession reached Foundation's own loader, which cannot pin",
            hint: isSocket
                ? "web sockets are not supported yet"
                : "import PintleURLSession where the call is made, or use a task with a completion handler")
        client?.urlProtocol(self, didFailWithError: URLError(.refused(refusal), url: request.url))
    }

    override func stopLoading() {}
}
