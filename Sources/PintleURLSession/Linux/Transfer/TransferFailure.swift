internal import CCurl
internal import Pintle

/// Why a transfer ended without a complete response.
enum TransferFailure: Error {
    case rejected(TrustRejection)
    case refused(SessionRefusal)
    case timedOut
    case cancelled
    /// Another policy was put in force before anything was sent. The new policy decides about the request.
    case superseded
    /// The content has to be sent, perhaps again, and the delegate has no stream.
    case noBodyStream
    /// The cache policy allows only the cache, which has no usable response.
    case notCached
    /// libcurl's code and text.
    case library(code: UInt32, text: String)

    /// A transfer that ended before its response was accepted.
    static let withoutResponse = TransferFailure.library(
        code: CURLE_GOT_NOTHING.rawValue, text: "the transfer ended without a response")
}
