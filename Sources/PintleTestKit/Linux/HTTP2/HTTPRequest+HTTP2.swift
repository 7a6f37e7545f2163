extension HTTPRequest {
    /// Makes a request of the fields of a header block (RFC 9113 section 8.3). The authority becomes the field `host`.
    ///
    /// - Throws: PROTOCOL_ERROR for a malformed request (RFC 9113 section 8.1.1).
    init(http2 fields: [HPACKField]) throws(HTTP2Error) {
        var pseudo: [String: String] = [:]
        var regular: [HTTPField] = []
        for field in fields {
            let (name, value) = (
                String(decoding: field.name, as: UTF8.self), String(decoding: field.value, as: UTF8.self)
            )
            guard field.name.first == UInt8(ascii: ":") else {
                regular.append(try HTTPField(http2: field))
                continue
            }
            guard regular.isEmpty, [":method", ":scheme", ":authority", ":path"].contains(name),
                pseudo.updateValue(value, forKey: name) == nil, HTTPField.isValue(field.value)
            else { throw HTTP2Error(.protocolError, "a misplaced or unknown pseudo-header field") }
        }
        let isConnect = pseudo[":method"] == "CONNECT"
        guard let method = pseudo[":method"], !method.isEmpty, (pseudo[":scheme"] == nil) == isConnect,
            (pseudo[":path"] == nil) == isConnect, let target = pseudo[isConnect ? ":authority" : ":path"],
            !target.isEmpty
        else { throw HTTP2Error(.protocolError, "a request without its pseudo-header fields") }
        if let authority = pseudo[":authority"] {
            regular.removeAll { $0.name == "host" }
            regular.insert(HTTPField("host", authority), at: 0)
        }
        self.init(method: method, target: target, version: "HTTP/2", fields: HTTPField.joiningCookies(regular))
    }
}

extension HTTPField {
    /// The fields that HTTP/2 does not have (RFC 9113 section 8.2.2).
    private static let ofConnections: Set = [
        "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade",
    ]

    /// Makes a field that is not a pseudo-header field.
    ///
    /// - Throws: PROTOCOL_ERROR for a malformed field (RFC 9113 section 8.2.1).
    init(http2 field: HPACKField) throws(HTTP2Error) {
        self.init(String(decoding: field.name, as: UTF8.self), String(decoding: field.value, as: UTF8.self))
        let isName = field.name.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: ":") && !(0x41...0x5A ~= $0) }
        guard isName, !field.name.isEmpty, Self.isValue(field.value), !Self.ofConnections.contains(name),
            name != "te" || value == "trailers"
        else { throw HTTP2Error(.protocolError, "a malformed field") }
    }

    static func isValue(_ bytes: [UInt8]) -> Bool { !bytes.contains { $0 == 0 || $0 == 0x0A || $0 == 0x0D } }

    /// Returns the fields with one field `cookie`, which clients split (RFC 9113 section 8.2.3).
    fileprivate static func joiningCookies(_ fields: [HTTPField]) -> [HTTPField] {
        let cookies = fields.filter { $0.name == "cookie" }.map(\.value)
        guard cookies.count > 1 else { return fields }
        return fields.filter { $0.name != "cookie" } + [HTTPField("cookie", cookies.joined(separator: "; "))]
    }

    /// The field in a response over HTTP/2; `nil` if it concerns only connections of HTTP/1.1.
    var http2: HPACKField? {
        let name = name.lowercased()
        return Self.ofConnections.contains(name) ? nil : HPACKField(name, value)
    }
}
