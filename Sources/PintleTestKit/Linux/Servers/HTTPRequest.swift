/// A header field, or a trailer.
public struct HTTPField: Sendable, Hashable {
    /// The name as written, compared in any case.
    public var name: String
    /// The value without the blanks around it.
    public var value: String

    /// A field with this name and value; nothing is checked.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request as a loopback server received it.
public struct HTTPRequest: Sendable, Hashable {
    /// Such as `GET`, upper case as sent.
    public var method: String
    /// As in the request line: a path and query, an absolute URL, or `host:port` for CONNECT.
    public var target: String
    /// Such as `HTTP/1.1`.
    public var version: String
    /// Header fields and trailers, in order.
    public var fields: [HTTPField]
    /// The content, after any transfer coding is undone.
    public var body: [UInt8] = []

    /// The value of the first field with this name, in any case.
    public subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// The answer of a loopback server.
public struct HTTPResponse: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The reason phrase.
    public var reason: String
    /// `Content-Length` and `Connection` are added where they are missing.
    public var fields: [HTTPField]
    /// The content.
    public var body: [UInt8]
    /// A Boolean value that indicates whether the server ends the connection after this response.
    public var closesConnection = false
    /// Sent in place of everything above where set; the connection ends after it.
    public var rawBytes: [UInt8]?

    /// A response with these parts; nothing is checked.
    public init(status: Int, reason: String = "", fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.reason = reason
        self.fields = fields
        self.body = body
    }

    /// 200 with the body `ok` and a newline.
    public static let ok = HTTPResponse.text("ok\n")

    /// 200 with this text.
    public static func text(_ text: String) -> HTTPResponse {
        HTTPResponse(
            status: 200, reason: "OK", fields: [HTTPField("Content-Type", "text/plain; charset=utf-8")],
            body: Array(text.utf8))
    }

    /// A redirect to this location.
    public static func redirect(to location: String, status: Int = 302) -> HTTPResponse {
        HTTPResponse(status: status, reason: "Found", fields: [HTTPField("Location", location)])
    }

    /// 401 with this challenge.
    public static func unauthorized(challenge: String = "Basic realm=\"test\"") -> HTTPResponse {
        HTTPResponse(status: 401, reason: "Unauthorized", fields: [HTTPField("WWW-Authenticate", challenge)])
    }

    /// Bytes that need not be HTTP at all.
    public static func raw(_ bytes: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: 0)
        response.rawBytes = bytes
        return response
    }
}
