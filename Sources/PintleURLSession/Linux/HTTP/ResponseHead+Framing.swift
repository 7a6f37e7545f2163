internal import Foundation

/// The fields that say where the content of a response ends and how it is coded.
extension ResponseHead {
    /// Checks these fields once the head is complete. libcurl 7.88 accepts more than the standard does, and then takes the
    /// end of a connection for the end of the content.
    ///
    /// A valid `Content-Length` that is given more than once is replaced by one field (RFC 9110 section 8.6).
    ///
    /// - Parameter isStream: `true` where the connection speaks HTTP/2, whatever the status line says.
    /// - Returns: what is wrong, for the text of an error; `nil` for nothing.
    mutating func checkFraming(isStream: Bool) -> String? {
        // libcurl writes the line of a stream itself, and believes the line of any other response.
        guard version.hasPrefix(isStream ? "HTTP/2" : "HTTP/1") else {
            return "the status line has another version of HTTP"
        }
        let lengths = values(of: "content-length")
        let transferCodings = values(of: "transfer-encoding")
        let codings = values(of: "content-encoding")
        guard status >= 200 else {
            // RFC 9110 section 8.6 and RFC 9112 section 6.1. libcurl 7.88 applies them to the final response. Old servers
            // send a length of 0, which the final response then has to replace: see `Transfer.readHeadLine`.
            return lengths.allSatisfy { $0 == "0" } && transferCodings.isEmpty && codings.isEmpty
                ? nil : "an interim response has a field about content"
        }
        if let fault = Self.transferCodingFault(transferCodings, isStream: isStream) { return fault }
        // Decoders that are stacked multiply what they make of each byte.
        guard codings.reduce(0, { $0 + Self.elements(of: $1).count }) <= 1 else {
            return "the response has more than one content coding"
        }
        return checkLength(lengths)
    }

    /// The client sends no `TE` field, so that no coding but `chunked` may be applied (RFC 9112 sections 6.1 and 7.4). Any
    /// other would end where the connection does (section 6.3).
    private static func transferCodingFault(_ values: [String], isStream: Bool) -> String? {
        guard !values.isEmpty else { return nil }
        // RFC 9113 section 8.2.2.
        if isStream { return "the response has a transfer coding over HTTP/2" }
        return values.count == 1 && values[0].lowercased() == "chunked"
            ? nil : "the transfer coding of the response is not chunked"
    }

    private mutating func checkLength(_ values: [String]) -> String? {
        var known: Int64?
        for value in values {
            for element in value.split(separator: ",", omittingEmptySubsequences: false) {
                let digits = element.drop { $0 == " " || $0 == "\t" }.trimmingSuffix()
                guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int64(digits) else {
                    return "the length of the response is not a number"
                }
                guard known == nil || known == length else { return "the response has several lengths" }
                known = length
            }
        }
        guard let known, values != ["\(known)"] else { return nil }
        var isFirst = true
        fields = fields.compactMap { field in
            guard field.name.lowercased() == "content-length" else { return field }
            defer { isFirst = false }
            return isFirst ? (field.name, "\(known)") : nil
        }
        return nil
    }

    /// A Boolean value that indicates whether the head says where the content ends.
    var hasFraming: Bool {
        !values(of: "content-length").isEmpty || !values(of: "transfer-encoding").isEmpty
    }

    /// A Boolean value that indicates whether libcurl can tell the whole content from a part of it.
    ///
    /// It cannot over HTTP/2 without `Content-Length`: libcurl 7.88 takes RST_STREAM with the code NO_ERROR for the end of
    /// the content, like END_STREAM, and reports no difference.
    var hasReliableEnd: Bool {
        !version.hasPrefix("HTTP/2") || status == 204 || !values(of: "content-length").isEmpty
    }

    /// A Boolean value that indicates whether libcurl decodes the content.
    var isCoded: Bool {
        values(of: "content-encoding").contains { Self.elements(of: $0).contains { $0.lowercased() != "identity" } }
    }

    /// The elements of a list that are not empty (RFC 9110 section 5.6.1).
    private static func elements(of value: String) -> [Substring] {
        value.split { $0 == "," || $0 == " " || $0 == "\t" }
    }
}

extension Substring {
    fileprivate func trimmingSuffix() -> Substring {
        var rest = self
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return rest
    }
}
