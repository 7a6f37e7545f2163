import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

/// One request, and the server's response to it.
struct Exchange: Sendable, CustomTestStringConvertible {
    enum Style: Sendable {
        case asynchronous, completionHandler, delegate
        case uploadData(Int)
        case uploadFile(Int)
        case uploadMissingFile
        case uploadStream(Int)
        case download, downloadDelegate
        /// An async call with a delegate of its own.
        case asynchronousDelegate, downloadAsynchronousDelegate
        /// The task is cancelled: before it starts, or once the server has the request.
        case cancelledEarly, cancelledLate
    }

    enum Place: Sendable {
        /// The destination. With `none` the request has no URL.
        case server, refusedPort, unknownHost, none
    }

    let name: String
    var style = Style.delegate
    var place = Place.server
    var method = "GET"
    var path = "/"
    var fields: [String: String] = [:]
    var body: String?
    var bodyStream: String?
    var timeout: TimeInterval?
    var cachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    /// A Boolean value that indicates whether the same request is made before, to fill cookies and caches.
    var isRepeated = false
    var configure: @Sendable (URLSessionConfiguration) -> Void = { _ in }
    var followsRedirects = true
    var challenge: @Sendable (URLAuthenticationChallenge) -> RecordingDelegate.Answer = { _ in
        (.performDefaultHandling, nil)
    }
    var answer: @Sendable (HTTPRequest) -> HTTPResponse = { _ in .ok }

    init(_ name: String, _ style: Style = .delegate, _ change: (inout Exchange) -> Void = { _ in }) {
        self.name = name
        self.style = style
        change(&self)
    }

    /// A Boolean value that indicates whether the delegate belongs to the call, not to the session.
    var hasOwnDelegate: Bool {
        switch style {
        case .asynchronousDelegate, .downloadAsynchronousDelegate: true
        default: false
        }
    }

    var testDescription: String { name }

    func request(to port: UInt16) throws -> URLRequest {
        let base =
            switch place {
            case .server, .none: "http://127.0.0.1:\(port)"
            // Port 1 of this machine, where no server listens.
            case .refusedPort: "http://127.0.0.1:1"
            case .unknownHost: "http://name.invalid"
            }
        guard let url = URL(string: base + path) else { throw URLError(.badURL) }
        var request = URLRequest(url: url, cachePolicy: cachePolicy)
        request.httpMethod = method
        if place == .none { request.url = nil }
        if let timeout { request.timeoutInterval = timeout }
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        if let body { request.httpBody = Data(body.utf8) }
        if let bodyStream { request.httpBodyStream = InputStream(data: Data(bodyStream.utf8)) }
        return request
    }
}

/// The observations of a caller and a server in an exchange, by aspect.
struct Observation: Sendable {
    var aspects: [String: String] = [:]

    /// The fields that are compared. Fields such as `User-Agent`, which tell clients apart by name, are not.
    private static let compared: Set<String> = [
        "content-length", "content-type", "transfer-encoding", "cookie", "authorization", "accept", "expect",
        "range", "if-none-match",
    ]

    static func seen(_ requests: [HTTPRequest]) -> String {
        requests.map { request in
            let fields = request.fields.filter { field in
                let name = field.name.lowercased()
                return compared.contains(name) || name.hasPrefix("x-")
            }
            let lines = fields.map { field in
                // Foundation's storage returns cookies in any order.
                let value = field.value.split(separator: "; ").sorted().joined(separator: "; ")
                return "\(field.name.lowercased()): \(field.name.lowercased() == "cookie" ? value : field.value)"
            }.sorted()
            let body =
                request.body.count > 40 ? "\(request.body.count) bytes" : String(decoding: request.body, as: UTF8.self)
            return (["\(request.method) \(request.target)"] + lines + [body]).joined(separator: "\n")
        }.joined(separator: "\n--\n")
    }

    mutating func take(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        if let data {
            aspects["body"] = data.count > 200 ? "\(data.count) bytes" : String(decoding: data, as: UTF8.self)
        }
        if let error {
            aspects["error"] = (error as? URLError).map { "\($0.code.rawValue)" } ?? "\(type(of: error))"
        }
        guard let response = response as? HTTPURLResponse else { return }
        aspects["status"] = "\(response.statusCode)"
        aspects["path"] = response.url?.path
        aspects["fragment"] = response.url?.fragment
        aspects["fields"] = response.allHeaderFields.map { "\($0.key): \($0.value)" }.sorted().joined(separator: "\n")
        aspects["length"] = "\(response.expectedContentLength)"
    }
}
