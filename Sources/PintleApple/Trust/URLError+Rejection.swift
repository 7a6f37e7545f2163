import Foundation
import Pintle

extension URLError {
    /// Creates the error of a task whose server was refused. Its underlying error is the typed one.
    package init(_ rejection: TrustRejection, url: URL?) {
        // A code of its own for each thing that a path can be: they are what stock code looks for.
        let code: URLError.Code =
            switch rejection.pathFailure?.code {
            case .expired: .serverCertificateHasBadDate
            case .notYetValid: .serverCertificateNotYetValid
            case .untrustedRoot, .selfSigned: .serverCertificateHasUnknownRoot
            default: .serverCertificateUntrusted
            }
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: rejection.errorText, NSUnderlyingErrorKey: rejection,
        ]
        userInfo[NSURLErrorFailingURLErrorKey] = url
        self.init(code, userInfo: userInfo)
    }
}
