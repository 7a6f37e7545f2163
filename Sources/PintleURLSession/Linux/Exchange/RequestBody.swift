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

/// The content of one request of a task, as far as it is known before the transfer.
enum RequestContent: Sendable {
    case none
    /// Data or a file, which can be sent again.
    case fixed(TransferRequest.Body)
    /// A stream, which can be sent once; `nil` until the delegate has provided one. The size is in bytes, or `nil` if
    /// it is unknown.
    case stream(BodyStream?, size: Int64?)

    /// The content for libcurl, if there is any.
    var body: TransferRequest.Body? {
        switch self {
        case .none: nil
        case .fixed(let body): body
        case .stream(let stream, let size): stream.map { .stream($0, size: size) }
        }
    }

    /// A Boolean value that indicates whether all of the content can still be sent. If not, the delegate has to provide
    /// a stream.
    var isAvailable: Bool {
        guard case .stream(let stream, _) = self else { return true }
        return stream?.isWhole ?? false
    }

    /// Returns the content of the next request after a redirect, a challenge or a change by the delegate.
    func content(of next: URLRequest, after request: URLRequest) -> RequestContent {
        if let data = next.httpBody {
            if data == request.httpBody { return self }
            return data.isEmpty ? .none : .fixed(.data(data))
        }
        if let stream = next.httpBodyStream {
            return stream === request.httpBodyStream
                ? self : .stream(BodyStream(stream), size: next.declaredContentLength)
        }
        return request.httpMethod == next.httpMethod ? self : .none
    }
}

extension URLRequest {
    /// The length of a stream in bytes, from the request's own `Content-Length`. Without it libcurl sends the content
    /// chunked.
    var declaredContentLength: Int64? {
        value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
