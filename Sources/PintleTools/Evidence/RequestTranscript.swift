internal import Pintle
internal import PintleCrypto
internal import PintleTestKit

/// The text of a request that a server received, for people other than its sender.
///
/// Replaces the query, the content, and the values of all fields but a few common ones by their length and SHA-256 hash. A
/// finding then proves that a secret was sent, and does not contain it.
struct RequestTranscript {
    private let request: HTTPRequest
    /// A Boolean value that indicates whether nothing is replaced.
    private let showsContent: Bool

    init(_ request: HTTPRequest, showsContent: Bool) {
        (self.request, self.showsContent) = (request, showsContent)
    }

    /// The fields whose values are about the message and not about the user (RFC 9110, RFC 6455, Fetch Metadata).
    private static let plainFields: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection",
        "content-encoding",
        "content-length", "content-type", "dnt", "expect", "host", "pragma", "priority", "range", "sec-fetch-dest",
        "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user", "sec-websocket-version", "te", "transfer-encoding",
        "upgrade",
        "upgrade-insecure-requests", "user-agent",
    ]

    /// The lines, without control characters.
    var lines: [String] {
        var lines = ["\(request.method) \(target) \(request.version)"]
        for field in request.fields {
            let isShown = showsContent || Self.plainFields.contains(field.name.lowercased())
            lines.append("\(field.name): \(isShown ? field.value : Self.replacement(Array(field.value.utf8)))")
        }
        if !request.body.isEmpty {
            lines.append("")
            lines.append(
                showsContent ? String(decoding: request.body, as: UTF8.self) : Self.replacement(request.body))
        }
        return lines.map(SafeText.escape)
    }

    /// The target with its query replaced, and the user information of an absolute URL.
    private var target: String {
        guard !showsContent else { return request.target }
        let place = request.target.prefix { $0 != "?" }
        let query = request.target.dropFirst(place.count + 1)
        var parts = place.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        // The authority of http://user:password@host/ is the third part.
        if parts.count > 2, parts[0].hasSuffix(":"), let at = parts[2].lastIndex(of: "@") {
            parts[2] = Self.replacement(Array(parts[2][..<at].utf8)) + parts[2][at...]
        }
        return parts.joined(separator: "/") + (query.isEmpty ? "" : "?" + Self.replacement(Array(query.utf8)))
    }

    /// Returns a text such as `[43 bytes, SHA-256 5891b5b5...]`.
    static func replacement(_ bytes: [UInt8]) -> String {
        "[\(ValidityText.counted(bytes.count, "byte")), SHA-256 \(Hex.encode(SHA256Digest(hashing: bytes).bytes))]"
    }
}
