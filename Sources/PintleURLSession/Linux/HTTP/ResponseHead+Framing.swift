internal import Foundation

/// The fields that determine where the content of a response ends and how it is encoded.
extension ResponseHead {
    /// Checks these fields once the head is complete. libcurl 7.88 accepts more than the standard allows, and then
    /// mistakes the end of a connection for the end of the content.
    ///
    /// If a valid `Content-Length` repeats, one field replaces all of them (RFC 9110 section 8.6).
    ///
    /// - Parameter isStream: `true` if the connection speaks HTTP/2, whatever the status line says.
    /// - Returns: A description of the fault for an error's text; `nil` if there is none.
    mutating func checkFraming(isStream: Bool) -> String? {
        // libcurl writes the status line of a stream itself. For other responses it believes the server's.
        guard version.hasPrefix(isStream ? "HTTP/2" : "HTTP/1") else {
            return "the status line has another version of HTTP"
        }
        let lengths = values(of: "content-length")
        let transferCodings = values(of: "transfer-encoding")
        guard status >= 200 else {
            // Interim responses must not have these fields (RFC 9110 section 8.6 and RFC 9112 section 6.1), but libcurl
            // 7.88 applies them to the final response. Old servers send a length of 0, which the final response must
            // override: see ``HeadReader``.
            return lengths.allSatisfy { $0 == "0" } && transferCodings.isEmpty && !has("content-encoding")
                ? nil : "an interim response has a field about content"
        }
        if let fault = Self.transferCodingFault(transferCodings, isStream: isStream) { return fault }
        return checkLength(lengths)
    }

    /// Returns the fault of a transfer coding. The client sends no `TE` field, so a server may use only `chunked` (RFC
    /// 9112 sections 6.1 and 7.4). Content in any other coding would end with the connection (section 6.3).
    private static func transferCodingFault(_ values: [String], isStream: Bool) -> String? {
        guard !values.isEmpty else { return nil }
        // RFC 9113 section 8.2.2 forbids it.
        if isStream { return "the response has a transfer coding over HTTP/2" }
        return values.count == 1 && values[0].isField("chunked")
            ? nil : "the transfer coding of the response is not chunked"
    }

    private mutating func checkLength(_ values: [String]) -> String? {
        guard !values.isEmpty, !Self.isCanonicalLength(values) else {
            length = values.first.flatMap { Int64($0) }
            return nil
        }
        var known: Int64?
        for value in values {
            for element in value.split(separator: ",", omittingEmptySubsequences: false) {
                let digits = element.trimmingBlanks
                guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int64(digits) else {
                    return "the length of the response is not a number"
                }
                guard known == nil || known == length else { return "the response has several lengths" }
                known = length
            }
        }
        length = known
        guard let known, values != ["\(known)"] else { return nil }
        var isFirst = true
        fields = fields.compactMap { field in
            guard field.name.isField("content-length") else { return field }
            defer { isFirst = false }
            return isFirst ? (field.name, FieldValue("\(known)")) : nil
        }
        return nil
    }

    /// Returns `true` for the usual case: one number that fits into an `Int64`, without anything around it.
    private static func isCanonicalLength(_ values: [String]) -> Bool {
        guard values.count == 1, let digits = values.first?.utf8, 1...18 ~= digits.count else { return false }
        return digits.allSatisfy { 0x30...0x39 ~= $0 } && (digits.first != 0x30 || digits.count == 1)
    }

    /// A Boolean value that indicates whether the head has a field that determines where the content ends.
    var hasFraming: Bool {
        has("content-length") || has("transfer-encoding")
    }

    enum ContentCoding {
        case gzip, deflate
        /// A coding that a session does not offer.
        case other
        case several
    }

    /// The coding of the content (RFC 9110 section 8.4.1); `nil` if it is not encoded.
    var contentCoding: ContentCoding? {
        let codings = values(of: "content-encoding").flatMap(Self.elements)
        // Stacked decoders would multiply the expansion of each byte.
        guard codings.count <= 1 else { return .several }
        guard let coding = codings.first.map(String.init) else { return nil }
        if ["identity", "none"].contains(where: coding.isField) { return nil }
        if ["gzip", "x-gzip"].contains(where: coding.isField) { return .gzip }
        return coding.isField("deflate") ? .deflate : .other
    }

    /// Returns the non-empty elements of a list (RFC 9110 section 5.6.1).
    private static func elements(of value: String) -> [Substring] {
        value.split { $0 == "," || $0 == " " || $0 == "\t" }
    }
}

extension Substring {
    /// The value without the blanks around it, which are not part of it (RFC 9110 section 5.5).
    var trimmingBlanks: Substring {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        var rest = drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return rest
    }
}
