internal import Foundation
internal import FoundationNetworking
internal import Pintle
internal import PintleOpenSSL

/// A translation of Foundation's request into libcurl's, with the settings of the session.
struct RequestTranslation {
    let configuration: URLSessionConfiguration
    let sessionFields: SessionFields
    let proxies: ProxySetting
    let generation: PolicyGeneration
    /// A Boolean value that indicates whether a redirect has left the origin that the credentials are for.
    var hasLeftOrigin = false
    /// The deadline as system uptime in seconds.
    var deadline = Double.infinity
    var priority = URLSessionTask.defaultPriority

    /// The limit in bytes for the parts of a request's head over TLS, short of what libcurl adds. libcurl 7.88 never
    /// sends the end of a head above 128 KiB over HTTP/1.1, and over HTTP/2 the limit is lower.
    private static let headLimit = (128 << 10) - 512

    /// Returns libcurl's request.
    ///
    /// - Parameter authorization: The answer to a challenge of the request's origin. It replaces the request's own
    ///   `Authorization`.
    func transferRequest(
        _ request: URLRequest, content: RequestContent, authorization: inout Authorization?
    ) throws(SessionError) -> TransferRequest {
        guard let address = request.url?.absoluteString else {
            throw SessionError(.invalidRequest, "the request has no URL", errorCode: NSURLErrorUnsupportedURL)
        }
        let url = try CurlURL(address)
        if url.scheme == .http, !generation.allowsPlainHTTP(to: url.endpoint) {
            throw SessionError(
                .plainHTTP, "the policy covers \(url.endpoint.host), and http cannot be judged", hint: "use https")
        }
        var result = TransferRequest(url: url)
        result.method = request.httpMethod ?? "GET"
        guard !result.method.isEmpty, result.method.utf8.allSatisfy(HeaderToken.isByte) else {
            throw SessionError(.invalidRequest, "the method is not a token (RFC 9110 section 9.1)")
        }
        guard content.isNone || result.method != "GET" else {
            throw SessionError(
                .invalidRequest, "a GET request has content", hint: "use POST, or put it into the URL",
                errorCode: NSURLErrorDataLengthExceedsMaximum)
        }
        // As in Foundation, a HEAD request has no content.
        result.content = result.method == "HEAD" ? .none : content
        let credentials = authorization?.value(for: url, method: result.method)
        // As in Foundation: only content of the request itself is taken for a form. Content of an upload task may be
        // anything.
        let isForm =
            if case .stream = result.content { true } else {
                !result.content.isNone && request.httpBody?.isEmpty == false
            }
        result.proxy = try proxies.proxy(for: url)
        try setFields(of: &result, from: request, isForm: isForm, credentials: credentials)
        let size = result.method.utf8.count + address.utf8.count + result.fields.size
        guard url.scheme == .http || size <= Self.headLimit else {
            throw SessionError(
                .invalidRequest, "the head of the request is longer than 128 KiB",
                hint: "move data to its content, or delete cookies")
        }
        result.idleTimeout = Self.idleTimeout(of: request, in: configuration)
        result.deadline = deadline
        result.priority = priority.isFinite ? min(max(priority, 0), 1) : URLSessionTask.defaultPriority
        return result
    }

    /// Returns the time-out in seconds without a byte in either direction.
    static func idleTimeout(of request: URLRequest, in configuration: URLSessionConfiguration) -> Double {
        // 60 s is `URLRequest`'s default. Treat it as "not set" and use the session's time-out.
        let timeout = request.timeoutInterval == 60 ? configuration.timeoutIntervalForRequest : request.timeoutInterval
        return timeout > 0 ? timeout : 60
    }

    private func setFields(
        of result: inout TransferRequest, from request: URLRequest, isForm: Bool, credentials: String?
    ) throws(SessionError) {
        let own = request.allHTTPHeaderFields ?? [:]
        result.choosesCodings =
            sessionFields.choosesCodings
            || own.keys.contains { $0.isField("accept-encoding") }
        var fields = sessionFields.fields
        // Drops these fields only from the session's settings. The redirect has removed the request's own; the delegate
        // may have added new ones, which stay.
        if hasLeftOrigin { fields.removeConfidential() }
        for (name, value) in own { fields.put(name, value) }
        if let credentials { fields.put("Authorization", credentials) }
        if isForm, request.httpMethod == "POST", !fields.has("content-type") {
            fields.put("Content-Type", "application/x-www-form-urlencoded")
        }
        let cookies = fields.has("cookie") ? [] : cookies(for: request, to: result.url)
        if let bytes = HTTPCookie.latin1Field(of: cookies) {
            fields.rawCookie = bytes
        } else if !cookies.isEmpty {
            fields.put("Cookie", HTTPCookie.requestHeaderFields(with: cookies)["Cookie"] ?? "")
        }
        result.closesConnection = fields.closesConnection
        let isForProxy = fields.has(RequestFields.proxyCredentials)
        if isForProxy {
            let forProxy = fields.removeProxyCredentials()
            // A server never gets the credentials of a proxy (RFC 9110 section 11.7.2).
            if case .http = result.proxy {
                if result.url.scheme == .https {
                    result.proxyFields = try forProxy.lines(hasContent: false)
                } else {
                    fields.add(forProxy)
                }
            }
        }
        let isPlain =
            own.isEmpty && credentials == nil && cookies.isEmpty && !result.hasContent && !hasLeftOrigin && !isForProxy
        result.fields = isPlain ? try sessionFields.lines.get() : try fields.lines(hasContent: result.hasContent)
    }

    private func cookies(for request: URLRequest, to server: CurlURL) -> [HTTPCookie] {
        guard configuration.httpShouldSetCookies, request.httpShouldHandleCookies,
            let storage = configuration.httpCookieStorage, let url = request.url,
            let stored = storage.cookies(for: url), !stored.isEmpty, server.isSameHost(as: url)
        else { return [] }
        // Foundation for Linux compares only the domain, so compare scheme, path and time here.
        let isSecure = url.scheme?.lowercased() == "https"
        let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? ""
        let now = Date()
        let cookies = stored.filter {
            (isSecure || !$0.needsTLS) && !$0.isExpired(at: now)
                && HTTPCookie.path($0.path, covers: path.isEmpty ? "/" : path)
        }
        // The storage returns cookies in no fixed order. Longer paths go first (RFC 6265 section 5.4).
        return cookies.sorted { ($1.path.utf8.count, $0.name) < ($0.path.utf8.count, $1.name) }
    }
}
