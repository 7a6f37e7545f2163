internal import Foundation
public import FoundationNetworking

/// A response that knows which verdict its connection had.
final class PinnedHTTPURLResponse: HTTPURLResponse, @unchecked Sendable {
    // `@unchecked` as the superclass is; what is added never changes.
    let receipt: TrustReceipt?

    init?(_ head: ResponseHead, url: URL) {
        receipt = head.receipt
        super.init(url: url, statusCode: head.status, httpVersion: head.version, headerFields: head.joinedFields)
    }

    required init?(coder: NSCoder) {
        receipt = nil
        super.init(coder: coder)
    }
}

extension URLResponse {
    /// What was decided about the connection that this response came over; `nil` where no pinned session
    /// made it, for plain http, and after archiving.
    public var trustReceipt: TrustReceipt? { (self as? PinnedHTTPURLResponse)?.receipt }
}
