internal import Foundation
public import FoundationNetworking

/// A response that knows which verdict its connection had.
final class PinnedHTTPURLResponse: HTTPURLResponse, @unchecked Sendable {
    // `@unchecked` as the superclass is; what is added never changes.
    let receipt: TrustReceipt?
    /// A Boolean value that indicates whether libcurl can tell the whole content from a part of it. See
    /// ``ResponseHead/hasReliableEnd``.
    let hasReliableEnd: Bool

    init?(_ head: ResponseHead, url: URL) {
        receipt = head.receipt
        hasReliableEnd = head.hasReliableEnd
        let fields = head.joinedFields.filter { name, value in
            value.utf8.count <= Self.parsedLimit || !Self.parsed.contains(name.lowercased())
        }
        super.init(url: url, statusCode: head.status, httpVersion: head.version, headerFields: fields)
    }

    /// Fields that Foundation for Linux parses at once, in quadratic time. A field that fills a head takes a second, in
    /// which no other response is read. Fields that are longer than ``parsedLimit`` bytes are left out.
    private static let parsed: Set<String> = ["content-disposition", "content-type"]
    private static let parsedLimit = 4_096

    required init?(coder: NSCoder) {
        receipt = nil
        hasReliableEnd = false
        super.init(coder: coder)
    }
}

extension URLResponse {
    /// The decision about the connection that this response came over. It is `nil` for a response that no pinned session
    /// made, for plain http, and after archiving.
    public var trustReceipt: TrustReceipt? { (self as? PinnedHTTPURLResponse)?.receipt }
}
