internal import Pintle
internal import PintleConsole
internal import PintleCrypto
internal import PintleTestKit
internal import PintleText

/// The text of a request that a server received, for people other than its sender.
///
/// Replaces the query, the content, and the values of all fields but a few common ones by their length and SHA-256
/// hash. A finding then proves that a secret was sent, and does not contain it.
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
            lines.append("\(field.name): \(shown(field.value, of: field.name.lowercased()))")
        }
        if !request.body.isEmpty {
            lines.append("")
            lines.append(
                showsContent ? String(decoding: request.body, as: UTF8.self) : Self.replacement(request.body))
        }
        return lines.map(SafeText.escape)
    }

    /// Returns the value of a field, or what replaces it.
    private func shown(_ value: String, of name: String) -> String {
        if showsContent { return value }
        if name == "host" || name == ":authority" { return Self.withoutUser(value) }
        return Self.plainFields.contains(name) ? value : Self.replacement(Array(value.utf8))
    }

    /// The target with its query, its fragment and its user information replaced.
    private var target: String {
        guard !showsContent else { return request.target }
        let place = request.target.prefix { $0 != "?" && $0 != "#" }
        let rest = request.target.dropFirst(place.count)
        var parts = place.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        // The authority of http://user:password@host/ and //user:password@host/ is the third part, that of CONNECT all.
        if parts.count > 2, parts[1].isEmpty, parts[0].isEmpty || parts[0].hasSuffix(":") {
            parts[2] = Self.withoutUser(parts[2])
        } else if parts.count == 1 {
            parts[0] = Self.withoutUser(parts[0])
        }
        let shown = rest.isEmpty ? "" : "\(rest.prefix(1))\(Self.replacement(Array(rest.dropFirst().utf8)))"
        return parts.joined(separator: "/") + shown
    }

    /// Returns an authority with its user information replaced.
    private static func withoutUser(_ authority: String) -> String {
        guard let at = authority.lastIndex(of: "@") else { return authority }
        return replacement(Array(authority[..<at].utf8)) + authority[at...]
    }

    /// Returns a text such as `[43 bytes, SHA-256 5891b5b5...]`.
    static func replacement(_ bytes: [UInt8]) -> String {
        "[\(ValidityText.counted(bytes.count, "byte")), SHA-256 \(Hex.encode(SHA256Digest(hashing: bytes).bytes))]"
    }
}
