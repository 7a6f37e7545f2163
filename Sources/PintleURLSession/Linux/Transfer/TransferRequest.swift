internal import Foundation
internal import FoundationNetworking
internal import Glibc
internal import Pintle
internal import PintleOpenSSL

/// A request in the form that libcurl needs. A redirect or a repetition makes another one.
struct TransferRequest: Sendable {
    let url: CurlURL
    var method = "GET"
    /// The header fields, in the form of CURLOPT_HTTPHEADER. Their names and values hold no line breaks.
    var fields = StringList.empty
    /// The fields for a proxy that opens a tunnel.
    var proxyFields = StringList.empty
    /// A Boolean value that indicates whether an HTTP/1.1 connection must carry no further request (RFC 9112 section
    /// 9.6).
    var closesConnection = false
    var content = RequestContent.none
    /// A Boolean value that indicates whether the app has chosen the content codings itself. It then gets content in a
    /// coding that sessions do not decode as it came.
    var choosesCodings = false
    /// A Boolean value that indicates whether the request announces content. Methods that expect content announce even
    /// an empty one (RFC 9110 section 8.6).
    var hasContent: Bool { !content.isNone || method != "GET" && method != "HEAD" }
    /// A Boolean value that indicates whether the server may receive the request twice without another effect (RFC 9110
    /// section 9.2.2).
    var isIdempotent: Bool {
        switch method {
        case "GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE": true
        default: false
        }
    }
    /// The proxy. libcurl gets it in every case, so that it does not read the environment itself.
    var proxy = ProxyConfiguration.none
    /// The time-out in seconds without a byte in either direction.
    var idleTimeout = 60.0
    /// The system uptime in seconds at which the transfer times out in any case.
    var deadline = Double.infinity
    /// The priority from 0 to 1. Of the transfers that wait for the same server, those of the highest priority start
    /// first.
    var priority: Float = 0.5
    /// The number of times that earlier transfers have sent this request and the server has refused it.
    var refusals = 0
}

/// The content of a request, from the task to libcurl.
enum RequestContent: Sendable {
    case none
    case data(Data)
    /// A file, which the transfer reads while it sends it. The size is in bytes, or `nil` until ``opened()``.
    case file(path: String, size: Int64?)
    /// A stream, which can be sent once; `nil` until the delegate has provided one. The size is in bytes, or `nil` if
    /// it is unknown.
    case stream(BodyStream?, size: Int64?)
    /// Content that cannot be sent. The task fails with the error.
    case refused(SessionError)

    /// Reads the content of the request itself. Empty data counts as no content, as in Foundation, so a GET may have
    /// it.
    init(of request: URLRequest) {
        if let data = request.httpBody, !data.isEmpty {
            self = .data(data)
        } else if let stream = request.httpBodyStream {
            self = .stream(BodyStream(stream), size: request.declaredContentLength)
        } else {
            self = .none
        }
    }

    var isNone: Bool {
        if case .none = self { true } else { false }
    }

    /// The bytes of content; `nil` for a stream of unknown length.
    var size: Int64? {
        switch self {
        case .none, .refused: 0
        case .data(let data): Int64(data.count)
        case .file(_, let size), .stream(_, let size): size
        }
    }

    /// A Boolean value that indicates whether all of the content can still be sent. If not, the delegate has to provide
    /// a stream.
    var isAvailable: Bool {
        guard case .stream(let stream, _) = self else { return true }
        return stream?.isWhole ?? false
    }

    /// Returns the content once the size of a file is known.
    func opened() throws(SessionError) -> RequestContent {
        switch self {
        case .file(let path, nil):
            // FileManager would return the size of a symbolic link itself.
            var status = stat()
            guard stat(path, &status) == 0 else {
                throw SessionError(
                    .invalidRequest, "there is no file to upload: \(path)", errorCode: NSURLErrorFileDoesNotExist)
            }
            return .file(path: path, size: Int64(status.st_size))
        case .refused(let error): throw error
        case .none, .data, .file, .stream: return self
        }
    }

    /// Returns the content of the next request after a redirect, a challenge or a change by the delegate.
    func content(of next: URLRequest, after request: URLRequest) -> RequestContent {
        if let data = next.httpBody {
            if data == request.httpBody { return self }
            return data.isEmpty ? .none : .data(data)
        }
        if let stream = next.httpBodyStream {
            return stream === request.httpBodyStream
                ? self : .stream(BodyStream(stream), size: next.declaredContentLength)
        }
        let isRemoved = request.httpBody?.isEmpty == false || request.httpBodyStream != nil
        return request.httpMethod == next.httpMethod && !isRemoved ? self : .none
    }
}

extension URLRequest {
    /// The length of a stream in bytes, from the request's own `Content-Length`. Without it libcurl sends the content
    /// chunked.
    var declaredContentLength: Int64? {
        value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
