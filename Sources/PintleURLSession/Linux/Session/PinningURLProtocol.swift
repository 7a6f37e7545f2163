internal import Foundation
internal import FoundationNetworking

/// A guard that refuses every request that reaches Foundation's own loader, which cannot pin.
///
/// Calls on a pinned session do not get here, with one exception: `data(for:delegate:)`, `upload` and `download`.
/// Foundation does not declare them `open`. So Swift calls Foundation's version if the file does not import this
/// module, or if the argument for `delegate` is an optional. Foundation keeps that delegate to itself, so this class
/// cannot hand the request to a pinned task.
final class PinningURLProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canInit(with task: URLSessionTask) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        let isSocket = task is URLSessionWebSocketTask || ["ws", "wss"].contains(request.url?.scheme?.lowercased())
        let refusal = isSocket ? .webSocket : Self.refusal(of: task)
        client?.urlProtocol(self, didFailWithError: URLError(refusal, url: request.url))
    }

    override func stopLoading() {}

    private static func refusal(of task: URLSessionTask?) -> SessionRefusal {
        let what =
            switch task {
            case is URLSessionDownloadTask: "a download"
            case is URLSessionUploadTask: "an upload"
            default: "a request"
            }
        return SessionRefusal(
            .stockLoader, "\(what) of a PinnedURLSession reached Foundation's own loader, which cannot pin",
            hint: "import PintleURLSession in the file that makes the call, and give `delegate:` a delegate or "
                + "nil, not an optional variable (unwrap it); or use a task with a completion handler")
    }
}
