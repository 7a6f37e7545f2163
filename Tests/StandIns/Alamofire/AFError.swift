/// The errors of this stand-in. Alamofire has more cases.
public enum AFError: Error {
    public enum ServerTrustFailureReason: Sendable {
        case noRequiredEvaluator(host: String)
        case customEvaluationFailed(error: any Error)
    }

    public enum ResponseValidationFailureReason: Sendable {
        case unacceptableStatusCode(code: Int)
    }

    case responseValidationFailed(reason: ResponseValidationFailureReason)
    case serverTrustEvaluationFailed(reason: ServerTrustFailureReason)
    case sessionTaskFailed(error: any Error)
}
