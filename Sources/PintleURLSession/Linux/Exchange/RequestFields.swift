internal import Foundation

/// The header fields of a request, by lower-case name.
struct RequestFields: Sendable {
    /// Fields that are confidential, or that are correct for only one origin. `Host` is one: if the app has set it,
    /// another server would answer under the old host's name.
    static let confidential = ["authorization", "cookie", "host"]
    /// Credentials for a proxy, which are for any origin.
    static let proxyCredentials = "proxy-authorization"
    /// Fields that libcurl writes itself.
    private static let framing = ["content-length", "transfer-encoding", "expect"]

    private var fields: [String: (name: String, value: String)] = [:]
    /// The value of `Cookie`, if it has bytes that are no UTF-8.
    var rawCookie: [UInt8]?

    /// Returns `true` if there is a field. `name` is in lower case.
    func has(_ name: String) -> Bool { fields[name] != nil }

    /// A Boolean value that indicates whether the fields ask for the end of the connection (RFC 9112 section 9.6).
    var closesConnection: Bool {
        fields["connection"]?.value.split(separator: ",").contains {
            $0.trimmingBlanks.lowercased() == "close"
        } ?? false
    }

    /// Removes the credentials for a proxy, and returns them as fields of their own.
    mutating func removeProxyCredentials() -> RequestFields {
        var removed = RequestFields()
        removed.fields[Self.proxyCredentials] = fields.removeValue(forKey: Self.proxyCredentials)
        return removed
    }

    mutating func add(_ others: RequestFields) { fields.merge(others.fields) { $1 } }

    mutating func put(_ name: String, _ value: String) { fields[name.lowercased()] = (name, value) }

    mutating func removeConfidential() {
        for name in Self.confidential { fields[name] = nil }
    }

    /// Returns the fields in the form of CURLOPT_HTTPHEADER, without those that libcurl writes itself.
    ///
    /// - Parameter hasContent: A Boolean value that indicates whether the request announces content.
    /// - Throws: An error if a field would break the grammar of the request.
    func lines(hasContent: Bool) throws(SessionError) -> StringList {
        var sendable = fields
        for name in Self.framing { sendable[name] = nil }
        // A line break in a value would start another field or even another request.
        func isValue(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x7F || byte == 0x09 }
        func isField(_ name: String, _ value: String) -> Bool {
            !name.isEmpty && name.utf8.allSatisfy(HeaderToken.isByte) && value.utf8.allSatisfy(isValue)
        }
        guard sendable.values.allSatisfy(isField), rawCookie?.allSatisfy(isValue) ?? true else {
            throw SessionError(
                .invalidRequest, "a header field cannot be sent as it is",
                hint: "names are tokens, and values hold no control characters (RFC 9110 section 5)")
        }
        var lines = sendable.values.sorted { $0.name < $1.name }.map { field in
            let value = field.value[...].trimmingBlanks
            // libcurl omits a field without a value, unless a semicolon follows the name.
            return value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
        }
        // Servers that do not support `Expect` would delay every upload by a second.
        if hasContent { lines.append("Expect:") }
        return StringList(lines, rawCookie.map { Array("Cookie: ".utf8) + $0 })
    }
}

/// The header fields that a session adds to each of its requests.
struct SessionFields: Sendable {
    /// Foundation's user agent.
    private static let userAgent =
        "\(ProcessInfo.processInfo.processName) (unknown version) curl/\(CurlLibrary.version)"

    let fields: RequestFields
    /// A Boolean value that indicates whether the configuration has an `Accept-Encoding`.
    let choosesCodings: Bool
    /// The list for a request that has no other fields. Most requests of a session share it.
    let lines: Result<StringList, SessionError>

    /// - Parameter additional: The `httpAdditionalHeaders` of the configuration.
    init(_ additional: [AnyHashable: Any]?) {
        var fields = RequestFields()
        fields.put("User-Agent", Self.userAgent)
        fields.put("Accept", "*/*")
        fields.put("Accept-Encoding", ContentDecoder.offered)
        let own = (additional ?? [:]).compactMap { name, value in (name.base as? String).map { ($0, "\(value)") } }
        for (name, value) in own { fields.put(name, value) }
        choosesCodings = own.contains { $0.0.isField("accept-encoding") }
        self.fields = fields
        do throws(SessionError) {
            lines = .success(try fields.lines(hasContent: false))
        } catch {
            lines = .failure(error)
        }
    }
}
