import Foundation
import Pintle
import Security

/// The reason that a response is refused when it arrives, though its server was not.
package enum ArrivalRefusal: Sendable, Hashable {
    /// The request was for `https`, and the response came over `http`.
    case insecureRedirect
    /// The response came over `http` from a host that the policy covers.
    case plainHTTP
    /// The response came over `http` from an address that leads to another host than the one it names.
    case alias(AddressAlias)

    /// The code of the error.
    package var code: URLError.Code {
        switch self {
        case .insecureRedirect, .plainHTTP: .appTransportSecurityRequiresSecureConnection
        case .alias: .badURL
        }
    }
}

/// The system follows redirects of background sessions without asking. So where the response came from is looked at when
/// it arrives: the delegate gets nothing of a response over `http` that a foreground session would not have asked for.
extension PinningSessionDelegate {
    /// Returns the error that the task ends with; `nil` where its response may be used.
    func arrivalError(of task: URLSessionTask, _ response: URLResponse?) -> URLError? {
        guard let url = response?.url, url.scheme?.lowercased() == "http" else { return nil }
        if task.originalRequest?.url?.scheme?.lowercased() == "https" { return refused(.insecureRedirect, url) }
        if let host = url.host.flatMap({ try? ServerName($0) }), let alias = AddressAlias(host) {
            return refused(.alias(alias), url)
        }
        return source.current.policy.allowsPlainHTTP(to: url) ? nil : refused(.plainHTTP, url)
    }

    /// The same for a task that has its response already.
    func isRefusedOnArrival(_ task: URLSessionTask) -> Bool { arrivalError(of: task, task.response) != nil }

    /// The error for sessions that this package has not made: without a reason that has a type.
    static func plainError(_ refusal: ArrivalRefusal, _ url: URL) -> URLError {
        let text =
            switch refusal {
            case .insecureRedirect: "the server redirects from https to http"
            case .plainHTTP: "the policy covers \(url.host ?? "this host"), and http cannot be judged"
            case .alias(let alias): "\(alias.message); \(alias.hint)"
            }
        return URLError(
            refusal.code,
            userInfo: [NSLocalizedDescriptionKey: text, NSURLErrorFailingURLErrorKey: url])
    }
}
