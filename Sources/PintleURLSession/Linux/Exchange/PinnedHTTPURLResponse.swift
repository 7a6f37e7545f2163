internal import Foundation
public import FoundationNetworking

/// A response with its head as the server sent it, and the verdict on the connection that it came over.
final class PinnedHTTPURLResponse: HTTPURLResponse, @unchecked Sendable {
    // `@unchecked`: the superclass is Sendable in the same way, and the added property is constant.

    /// The head. Finding a field in it costs less than in Foundation's response.
    let head: ResponseHead

    init?(_ head: ResponseHead, url: URL) {
        self.head = head
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
        head = ResponseHead()
        super.init(coder: coder)
    }

    /// The value of `Location`. If it is no UTF-8, its bytes are percent-encoded, as in curl.
    var location: String? {
        guard let field = head.fields.first(where: { $0.name.isField("location") }), field.value.isLatin1 else {
            return value(forHTTPHeaderField: "Location")
        }
        return field.value.text.latin1Bytes.reduce(into: "") { text, byte in
            text += byte < 0x80 ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
        }
    }

    /// The length of the content in the form that the app gets. It is unknown for content that is decoded, which grows.
    var announcedContentLength: Int64 {
        switch head.contentCoding {
        case nil, .other, .several: expectedContentLength
        case .gzip, .deflate: NSURLSessionTransferSizeUnknown
        }
    }
}

extension URLResponse {
    /// The decision about the connection that this response came over. It is `nil` for a response from another session,
    /// over plain HTTP, or after archiving.
    public var trustReceipt: TrustReceipt? { connection?.receipt }

    /// The parameters of the connection. They are `nil` where ``trustReceipt`` is.
    public var negotiatedTLS: NegotiatedTLS? { connection?.tls }

    /// The part of the client's identity that the server got. It is `nil` where ``trustReceipt`` is, and if it is not
    /// known any more.
    public var clientCertificateUse: ClientCertificateUse? { connection?.clientCertificate }

    private var connection: ConnectionFacts? { (self as? PinnedHTTPURLResponse)?.head.connection }
}
