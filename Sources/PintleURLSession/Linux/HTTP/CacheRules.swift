internal import CCurl
internal import Foundation
internal import FoundationNetworking

/// The rules of a private cache (RFC 9111) without revalidation: a stale response is loaded again.
enum CacheRules {
    /// The statuses of final, complete responses that are cacheable by default (RFC 9110 section 15.1).
    private static let statuses: Set<Int> = [200, 203, 204, 404, 405, 410, 414, 501]
    /// Request fields that ask for a part, set a condition, or otherwise need a response of their own.
    private static let selective = [
        "Authorization", "Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
        "Pragma",
    ]

    /// Returns `true` if a request may be answered from the cache and its response may be stored.
    ///
    /// - Parameter fields: The fields that the session adds.
    static func isCacheable(_ request: URLRequest, _ fields: [AnyHashable: Any]) -> Bool {
        guard request.httpMethod ?? "GET" == "GET", request.httpBody == nil, request.httpBodyStream == nil else {
            return false
        }
        let added = Set(fields.keys.compactMap { ($0.base as? String)?.lowercased() })
        guard selective.allSatisfy({ request.value(forHTTPHeaderField: $0) == nil && !added.contains($0.lowercased()) })
        else { return false }
        let controls = fields.compactMap { name, value in
            (name.base as? String)?.lowercased() == "cache-control" ? "\(value)" : nil
        }
        return ([request.value(forHTTPHeaderField: "Cache-Control") ?? ""] + controls).allSatisfy { control in
            let directives = CacheDirectives([control])
            return !directives.has("no-cache") && !directives.has("no-store") && directives.seconds("max-age") != 0
        }
    }

    /// Returns the `Accept-Encoding` that the app sets, in the request or for the session; `nil` if the session sets
    /// its own. A response that varies by it is used only for the same value (RFC 9111 section 4.1).
    static func acceptedCodings(of request: URLRequest, _ fields: [AnyHashable: Any]) -> String? {
        if let own = request.value(forHTTPHeaderField: "Accept-Encoding") { return own }
        return fields.first { ($0.key.base as? String)?.lowercased() == "accept-encoding" }.map { "\($0.value)" }
    }

    static func varies(_ head: ResponseHead) -> Bool { !head.values(of: "vary").allSatisfy(\.isEmpty) }

    /// Returns `true` for a safe method (RFC 9110 section 9.2.1), which changes nothing, so that cached content stays
    /// valid.
    static func leavesContent(_ method: String?) -> Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE"].contains(method ?? "GET")
    }

    /// Returns `true` if a response may be stored.
    static func mayStore(_ head: ResponseHead) -> Bool {
        guard statuses.contains(head.status), !head.has("www-authenticate") else { return false }
        // Only `Accept-Encoding` is compared, so a response that varies by another field is not stored.
        guard head.values(of: "vary").allSatisfy({ $0.isEmpty || $0.isField("accept-encoding") }) else { return false }
        return !directives(of: head).has("no-store")
    }

    /// Returns the end of a response's freshness; `nil` if the server does not set it, or demands revalidation.
    ///
    /// - Parameter received: The time at which the response came.
    static func end(of head: ResponseHead, received: Date) -> Date? {
        let directives = directives(of: head)
        guard !directives.has("no-cache") else { return nil }
        let seconds = directives.seconds("max-age")
        guard seconds != nil || head.has("expires") else { return nil }
        let sent = date("date", of: head) ?? received
        let lifetime: TimeInterval
        if let seconds {
            lifetime = TimeInterval(seconds)
        } else {
            guard let end = date("expires", of: head) else { return nil }
            lifetime = end.timeIntervalSince(sent)
        }
        let age = head.values(of: "age").first.flatMap { TimeInterval($0) } ?? 0
        return received.addingTimeInterval(lifetime - max(age.isFinite ? age : 0, received.timeIntervalSince(sent), 0))
    }

    private static func directives(of head: ResponseHead) -> CacheDirectives {
        CacheDirectives(head.values(of: "cache-control"))
    }

    /// Parses a date in any of the three forms of RFC 9110 section 5.6.7. libcurl reads all of them.
    private static func date(_ field: String, of head: ResponseHead) -> Date? {
        guard let text = head.values(of: field).first else { return nil }
        let seconds = curl_getdate(text, nil)
        return seconds < 0 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}

/// The directives of `Cache-Control` (RFC 9111 section 5.2), by lower-case name. Parts that do not fit the grammar are
/// skipped.
struct CacheDirectives {
    private(set) var values: [String: String] = [:]

    /// - Parameter fields: The values of the field, each of any length.
    init(_ fields: [String]) {
        for field in fields {
            var isQuoted = false
            // A comma in a quoted string is not a separator.
            let parts = field.utf8.split { byte in
                if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                return byte == UInt8(ascii: ",") && !isQuoted
            }
            for part in parts {
                let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                let name = Self.text(pair.first).lowercased()
                if !name.isEmpty, values[name] == nil { values[name] = pair.count > 1 ? Self.text(pair.last) : "" }
            }
        }
    }

    func has(_ name: String) -> Bool { values[name] != nil }

    /// Returns the seconds of a directive. A number that is too great becomes 2^31, as RFC 9111 section 1.2.2 requires.
    /// An invalid number becomes 0, which means stale.
    func seconds(_ name: String) -> Int? {
        guard let text = values[name] else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return 0 }
        return min(Int(text) ?? Self.limit, Self.limit)
    }

    private static let limit = 1 << 31

    private static func text(_ bytes: Substring.UTF8View?) -> String {
        String(Substring(bytes ?? Substring().utf8)).trimmed { " \t\"".utf8.contains($0) }
    }
}

extension String {
    fileprivate func trimmed(_ isDropped: (UInt8) -> Bool) -> String {
        var rest = Array(utf8)[...].drop(while: isDropped)
        while let last = rest.last, isDropped(last) { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }
}
