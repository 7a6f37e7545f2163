/// A header field, or a trailer.
public struct HTTPField: Sendable, Hashable {
    /// The name as written. Comparisons ignore case.
    public var name: String
    /// The value without the spaces around it.
    public var value: String

    /// Makes a field. The name and the value are not checked.
    ///
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - value: the value of the field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// A request as a loopback server received it.
public struct HTTPRequest: Sendable, Hashable {
    /// The method as the client sent it, such as `GET`.
    public var method: String
    /// The target in the request line: a path and query, an absolute URL, or `host:port` for CONNECT.
    public var target: String
    /// The version in the request line, such as `HTTP/1.1`.
    public var version: String
    /// Header fields and trailers, in order.
    public var fields: [HTTPField]
    /// The content, decoded if it came with a transfer coding.
    public var body: [UInt8] = []

    /// The value of the first field with a name, or `nil` if the request has no such field.
    ///
    /// - Parameter name: the name of the field, in upper or lower case.
    public subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

/// A response of a loopback server.
public struct HTTPResponse: Sendable, Hashable {
    /// The status code.
    public var status: Int
    /// The reason phrase.
    public var reason: String
    /// The header fields. The server adds `Content-Length` and `Connection` if they are missing.
    public var fields: [HTTPField]
    /// The content.
    public var body: [UInt8]
    /// A Boolean value that indicates whether the server ends the connection after this response. Over HTTP/2 it sends
    /// GOAWAY, and gives the client ten seconds to end the connection.
    public var closesConnection = false
    /// The bytes to send instead of the other properties; the connection ends after them. `nil` sends those.
    public var rawBytes: [UInt8]?

    /// Makes a response. Its parts are not checked.
    ///
    /// - Parameters:
    ///   - status: the status code.
    ///   - reason: the reason phrase.
    ///   - fields: the header fields.
    ///   - body: the content.
    public init(status: Int, reason: String = "", fields: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.reason = reason
        self.fields = fields
        self.body = body
    }

    /// The status 200 with the body `ok` and a newline.
    public static let ok = HTTPResponse.text("ok\n")

    /// Returns a response with the status 200 and a text.
    ///
    /// - Parameter text: the content, sent as UTF-8.
    public static func text(_ text: String) -> HTTPResponse {
        HTTPResponse(
            status: 200, reason: "OK", fields: [HTTPField("Content-Type", "text/plain; charset=utf-8")],
            body: Array(text.utf8))
    }

    /// Returns a redirect.
    ///
    /// - Parameters:
    ///   - location: the value of the field `Location`.
    ///   - status: the status code.
    public static func redirect(to location: String, status: Int = 302) -> HTTPResponse {
        HTTPResponse(status: status, reason: "Found", fields: [HTTPField("Location", location)])
    }

    /// Returns a response with the status 401.
    ///
    /// - Parameter challenge: the value of the field `WWW-Authenticate`.
    public static func unauthorized(challenge: String = "Basic realm=\"test\"") -> HTTPResponse {
        HTTPResponse(status: 401, reason: "Unauthorized", fields: [HTTPField("WWW-Authenticate", challenge)])
    }

    /// Returns a response of any bytes, which need not be HTTP.
    ///
    /// - Parameter bytes: the bytes to send.
    public static func raw(_ bytes: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: 0)
        response.rawBytes = bytes
        return response
    }
}
