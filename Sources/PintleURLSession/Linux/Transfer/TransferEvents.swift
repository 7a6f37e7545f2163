internal import CCurl
internal import Foundation
internal import Pintle

/// The events of a transfer. They come on the transport's thread, and no implementation may block it.
protocol TransferEvents: AnyObject, Sendable {
    func transfer(_ transfer: Transfer, didSend count: Int)
    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) -> TransferHold
    /// Returns reasons to hold the transfer; `nil` ends it.
    func transfer(_ transfer: Transfer, didReceive data: Data) -> TransferHold?
    /// The last event. It comes exactly once.
    func transfer(_ transfer: Transfer, didComplete failure: TransferError?)
}

/// Reasons to pause a transfer.
struct TransferHold: OptionSet, Sendable {
    let rawValue: UInt8

    /// The delegate has been asked what to do.
    static let answer = TransferHold(rawValue: 1)
    /// Too much content is queued for the delegate.
    static let backlog = TransferHold(rawValue: 2)
    /// The task is suspended.
    static let suspended = TransferHold(rawValue: 4)
    /// The delegate is choosing the next request. Always set together with `answer`.
    static let choice = TransferHold(rawValue: 8)
    /// The session stores the cookies of the response. Always set together with `answer`.
    static let cookies = TransferHold(rawValue: 16)

    /// Content waits until it is decoded.
    static let decoding = TransferHold(rawValue: 32)

    /// A Boolean value that indicates whether the idle time-out pauses, because the app has to act next. The deadline
    /// of the task never pauses.
    var stopsClock: Bool { !isDisjoint(with: [.suspended, .backlog]) || contains(.answer) && !contains(.cookies) }
}

/// The reason why a transfer ended without a complete response.
enum TransferError: Error {
    case rejected(TrustRejection)
    case refused(SessionError)
    case timedOut
    case cancelled
    /// The policy changed before anything was sent. The new policy decides about the request.
    case superseded
    /// The server provably has not processed the request. The text says so. Content that can be sent again was sent
    /// again before: `refusals` counts that.
    case unprocessed(String, refusals: Int)
    /// The content has to be sent for the first time or again, and the delegate gives no stream.
    case noBodyStream
    /// The cache policy allows only a cached response, and a session has none.
    case notCached
    /// An error of libcurl.
    case library(code: UInt32, text: String)

    /// The failure of a transfer that ended before its response was accepted.
    static let withoutResponse = TransferError.library(
        code: CURLE_GOT_NOTHING.rawValue, text: "the transfer ended without a response")
}
