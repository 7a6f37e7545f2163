internal import Foundation

#if !PINTLE_APPLE
internal import FoundationNetworking
#endif

extension URLError {
    /// Creates the error of a request that a session refuses. Its underlying error is the refusal.
    init(_ refusal: SessionRefusal, url: URL?) {
        let code: URLError.Code =
            switch refusal.code {
            case .unsupportedScheme: .unsupportedURL
            case .plainHTTP, .insecureRedirect: .appTransportSecurityRequiresSecureConnection
            case .invalidRequest: .badURL
            case .tooManyRedirects: .httpTooManyRedirects
            case .unsupportedProxy, .outOfResources: .cannotConnectToHost
            case .notJudged: .secureConnectionFailed
            case .unsupportedFeature, .unsuitableLibrary, .stockLoader: .unsupportedURL
            }
        let own = refusal.errorCode.flatMap { URLError.Code(rawValue: $0) }
        self.init(own ?? code, refusal.description, url: url, underlying: refusal)
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
