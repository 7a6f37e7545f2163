internal import Foundation
internal import FoundationNetworking

/// The content that a task was made with.
enum RequestBody: Sendable {
    case none
    case data(Data)
    case file(URL)
    /// A stream; `nil` if the delegate has to provide it.
    case stream(BodyStream?)
    /// Content that cannot be sent. The task fails with the refusal.
    case refused(SessionRefusal)

    /// Reads the content of the request itself. Empty data counts as no content, as in Foundation, so a GET may have
    /// it.
    init(of request: URLRequest) {
        if let data = request.httpBody, !data.isEmpty {
            self = .data(data)
        } else if let stream = request.httpBodyStream {
            self = .stream(BodyStream(stream))
        } else {
            self = .none
        }
    }

    /// Returns the content of the first request. Reads the size of a file.
    func content(of request: URLRequest) throws(SessionRefusal) -> RequestContent {
        switch self {
        case .none: return .none
        case .data(let data): return .fixed(.data(data))
        case .file(let url):
            guard let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber else {
                throw SessionRefusal(
                    .invalidRequest, "there is no file to upload: \(url.path)", errorCode: NSURLErrorFileDoesNotExist)
            }
            return .fixed(.file(path: url.path, size: size.int64Value))
        case .stream(let stream): return .stream(stream, size: request.declaredContentLength)
        case .refused(let refusal): throw refusal
        }
    }
}
