internal import Foundation
public import FoundationNetworking

/// A response with the verdict on the connection that it came over.
final class PinnedHTTPURLResponse: HTTPURLResponse, @unchecked Sendable {
    // `@unchecked`: the superclass is Sendable in the same way, and the added properties are constant.
    let receipt: TrustReceipt?
    /// A Boolean value that indicates whether libcurl can tell complete content from truncated content. See
    /// ``ResponseHead/hasReliableEnd``.
    let hasReliableEnd: Bool
    /// A Boolean value that indicates whether the head has a field about freshness. Finding a field in Foundation's
    /// response is expensive.
    let mayBeFresh: Bool
    /// A Boolean value that indicates whether the content is encoded, so that its decoded length is unknown.
    let isEncoded: Bool

    init?(_ head: ResponseHead, url: URL) {
        receipt = head.receipt
        hasReliableEnd = head.hasReliableEnd
        mayBeFresh = head.has("cache-control") || head.has("expires")
        isEncoded = head.values(of: "content-encoding").contains { $0.lowercased() != "identity" }
        var fields = head.joinedFields
        if fields.values.contains(where: { $0.utf8.count > Self.parsedLimit }) {
            fields = fields.filter { name, value in
                value.utf8.count <= Self.parsedLimit || !Self.parsed.contains(name.lowercased())
            }
        }
        super.init(url: url, statusCode: head.status, httpVersion: head.version, headerFields: fields)
    }

    /// Fields that Foundation for Linux parses eagerly, in quadratic time. One such field that fills a head takes a
    /// second, during which no other response is read. So these fields are dropped if they are longer than
    /// ``parsedLimit`` bytes.
    private static let parsed: Set<String> = ["content-disposition", "content-type"]
    private static let parsedLimit = 4_096

    required init?(coder: NSCoder) {
        receipt = nil
        hasReliableEnd = false
        mayBeFresh = true
        isEncoded = true
        super.init(coder: coder)
    }
}

extension URLResponse {
    /// The decision about the connection that this response came over. It is `nil` for a response from another session,
    /// over plain HTTP, or after archiving.
    public var trustReceipt: TrustReceipt? { (self as? PinnedHTTPURLResponse)?.receipt }
}
