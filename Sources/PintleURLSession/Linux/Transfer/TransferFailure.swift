internal import CCurl
internal import Pintle

/// The reason why a transfer ended without a complete response.
enum TransferFailure: Error {
    case rejected(TrustRejection)
    case refused(SessionRefusal)
    case timedOut
    case cancelled
    /// The policy changed before anything was sent. The new policy decides about the request.
    case superseded
    /// The content has to be sent for the first time or again, and the delegate gives no stream.
    case noBodyStream
    /// The cache policy allows only the cache, which has no usable response.
    case notCached
    /// An error of libcurl.
    case library(code: UInt32, text: String)

    /// The failure of a transfer that ended before its response was accepted.
    static let withoutResponse = TransferFailure.library(
        code: CURLE_GOT_NOTHING.rawValue, text: "the transfer ended without a response")
}
