public import Foundation
public import Pintle

#if !PINTLE_APPLE
internal import FoundationNetworking
#endif

/// The reason why a pinned session does not make a request, and the remedy.
///
/// It is the underlying error of a task's `URLError`.
public struct SessionError: Error, Sendable, Hashable {
    /// The reasons. Their raw values do not change.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The URL, the method or a header field cannot be sent as it is.
        case invalidRequest = "invalid-request"
        /// The scheme is neither `https` nor `http`.
        case unsupportedScheme = "unsupported-scheme"
        /// The request uses `http` for a host that the policy covers: with a rule for any port, or because it does not
        /// leave hosts without a rule to the system's trust.
        case plainHTTP = "plain-http"
        /// The server redirects from `https` to `http`.
        case insecureRedirect = "insecure-redirect"
        /// The server sends more redirects than the limit.
        case tooManyRedirects = "too-many-redirects"
        /// The proxy cannot be used, or its setting cannot be read.
        case unsupportedProxy = "unsupported-proxy"
        /// The request needs a feature of URLSession that a pinned session does not have yet.
        case unsupportedFeature = "unsupported-feature"
        /// The libcurl of this process cannot ask for a verdict before it sends.
        case unsuitableLibrary = "unsuitable-library"
        /// The process has no file descriptor or no thread left for the session, so nothing was sent. A later request
        /// tries again.
        case outOfResources = "out-of-resources"
        /// The connection has no valid verdict for this host and policy. No known bug causes this; it is a safeguard.
        case notJudged = "not-judged"
        /// On Apple's systems, the delegate of the task is guarded, and no policy is known for its session.
        case noPolicy = "no-policy"
        /// On Apple's systems, the task's own delegate answers challenges about servers, and was not guarded. So the
        /// system would ask it, and not the policy.
        case unguardedDelegate = "unguarded-delegate"
        /// The server requires a client certificate, and got none. ``SessionError/clientCertificateRequest`` says which
        /// certificates it accepts.
        case clientCertificateRequired = "client-certificate-required"
        /// The server got a client certificate, and refused it.
        case clientCertificateRefused = "client-certificate-refused"
        /// The call reached Foundation's own loader, which cannot pin.
        case stockLoader = "stock-loader"
    }

    /// The reason, stable for machines.
    public let code: Code
    /// The reason in English, for people.
    public let message: String
    /// The remedy, if one is known.
    public let hint: String?
    #if !PINTLE_APPLE
    /// The certificates that the server asks for, if the error is about a client certificate.
    public internal(set) var clientCertificateRequest: ClientCertificateRequest?
    #endif
    /// The `URLError.Code` that Foundation has for exactly this reason, if there is one.
    let errorCode: Int?

    init(_ code: Code, _ message: String, hint: String? = nil, errorCode: Int? = nil) {
        self.code = code
        self.message = message
        self.hint = hint
        self.errorCode = errorCode
    }

    init(_ alias: AddressAlias) {
        self.init(.invalidRequest, alias.message, hint: alias.hint)
    }

    static func unsupported(_ what: String, hint: String? = nil) -> SessionError {
        SessionError(.unsupportedFeature, "\(what) is not supported by a pinned session yet", hint: hint)
    }

    static let webSocket = unsupported("a web socket", hint: "use PintleNIO with SwiftNIO's web socket upgrader")
}

extension SessionError: LocalizedError, DescribedError {
    public var description: String { hint.map { "\(message); \($0)" } ?? message }
}

extension URLError {
    /// Creates the error of a request that a session refuses. Its underlying error is the reason.
    init(_ error: SessionError, url: URL?) {
        let code: URLError.Code =
            switch error.code {
            case .unsupportedScheme: .unsupportedURL
            case .plainHTTP, .insecureRedirect: .appTransportSecurityRequiresSecureConnection
            case .invalidRequest: .badURL
            case .tooManyRedirects: .httpTooManyRedirects
            case .unsupportedProxy, .outOfResources: .cannotConnectToHost
            case .notJudged, .noPolicy, .unguardedDelegate: .secureConnectionFailed
            case .clientCertificateRequired: .clientCertificateRequired
            case .clientCertificateRefused: .clientCertificateRejected
            case .unsupportedFeature, .unsuitableLibrary, .stockLoader: .unsupportedURL
            }
        let own = error.errorCode.flatMap { URLError.Code(rawValue: $0) }
        self.init(own ?? code, error.description, url: url, underlying: error)
    }

    /// Creates an error with Foundation's keys.
    ///
    /// - Parameters:
    ///   - code: The code of the error.
    ///   - text: The localized description.
    ///   - url: The URL of the request that failed.
    ///   - underlying: The typed reason, for `TrustRejection(underlying:)` and for apps.
    init(_ code: URLError.Code, _ text: String, url: URL?, underlying: (any Error)? = nil) {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: text]
        userInfo[NSURLErrorFailingURLErrorKey] = url
        userInfo["NSErrorFailingURLStringKey"] = url?.absoluteString
        userInfo[NSUnderlyingErrorKey] = underlying
        self.init(code, userInfo: userInfo)
    }
}
