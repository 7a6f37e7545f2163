public import Foundation
public import Pintle

/// The reason why a pinned session does not make a request, and the remedy.
///
/// It is the underlying error of a task's `URLError`.
public struct SessionRefusal: Error, Sendable, Hashable {
    /// Stable strings.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The URL, the method or a header field cannot be sent as it is.
        case invalidRequest = "invalid-request"
        /// Neither `https` nor `http`.
        case unsupportedScheme = "unsupported-scheme"
        /// `http` to a host that the policy covers.
        case plainHTTP = "plain-http"
        /// A redirect from `https` to `http`.
        case insecureRedirect = "insecure-redirect"
        /// More redirects than the limit.
        case tooManyRedirects = "too-many-redirects"
        /// A proxy that cannot be used, or whose setting cannot be read.
        case unsupportedProxy = "unsupported-proxy"
        /// A feature of URLSession that a pinned session does not have yet.
        case unsupportedFeature = "unsupported-feature"
        /// The libcurl of this process cannot be made to ask before it sends.
        case unsuitableLibrary = "unsuitable-library"
        /// A connection without a live verdict for this host and policy. Never seen; refused all the same.
        case notJudged = "not-judged"
        /// A call that reached Foundation's own loader, which cannot pin.
        case stockLoader = "stock-loader"
    }

    /// The reason, stable for machines.
    public let code: Code
    /// The reason in English, for people.
    public let message: String
    /// The remedy, where one is known.
    public let hint: String?
    /// The code that Foundation has for just this, where it has one: an `URLError.Code`.
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

    static func unsupported(_ what: String, hint: String? = nil) -> SessionRefusal {
        SessionRefusal(.unsupportedFeature, "\(what) is not supported by a pinned session yet", hint: hint)
    }
}

extension SessionRefusal: LocalizedError, DescribedError {
    public var description: String { hint.map { "\(message); \($0)" } ?? message }
}
