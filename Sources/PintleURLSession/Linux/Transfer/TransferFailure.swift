internal import CCurl
internal import Pintle

/// Why a transfer ended without a complete response.
enum TransferFailure: Error {
    case rejected(TrustRejection)
    case refused(SessionRefusal)
    case timedOut
    case cancelled
    /// Another policy was put in force before anything was sent: it has to decide, from the start.
    case superseded
    /// The content has to be sent, once more perhaps, and nobody has a stream for it.
    case noBodyStream
    /// A cache was to answer, and has nothing that may be used.
    case notCached
    /// libcurl's code and words.
    case library(code: UInt32, text: String)

    /// A transfer that ended before its response was accepted.
    static let withoutResponse = TransferFailure.library(
        code: CURLE_GOT_NOTHING.rawValue, text: "the transfer ended without a response")
}
