/// The head of a response, as the server sent it.
struct ResponseHead: Sendable {
    var status = 0
    /// For example `HTTP/1.1`.
    var version = ""
    var fields: [(name: String, value: String)] = []
    /// The receipt of the connection; `nil` for plain HTTP.
    var receipt: TrustReceipt?

    /// Returns the values of a field. `name` is in lower case.
    func values(of name: String) -> [String] {
        fields.compactMap { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name ? $0.value : nil }
    }

    /// Fields that libcurl interprets itself. It treats a folded line after one of these as another field.
    private static let framing: Set<String> = [
        "connection", "content-encoding", "content-length", "transfer-encoding",
    ]

    /// Appends a folded line to the last field, with a blank in place of the line break (RFC 9112 section 5.2).
    ///
    /// - Returns: `false` for a field that must not be folded.
    mutating func unfold(_ value: String) -> Bool {
        guard let last = fields.indices.last, !Self.framing.contains(fields[last].name.lowercased()) else {
            return false
        }
        if !value.isEmpty { fields[last].value += (fields[last].value.isEmpty ? "" : " ") + value }
        return true
    }

    /// The fields with the values of each name joined into one list (RFC 9110 section 5.3). Foundation splits
    /// `Set-Cookie` again.
    var joinedFields: [String: String] {
        var joined: [String: String] = [:]
        var spelling: [String: String] = [:]
        for field in fields {
            let name = spelling[field.name.lowercased()] ?? field.name
            spelling[field.name.lowercased()] = name
            joined[name] = joined[name].map { "\($0), \(field.value)" } ?? field.value
        }
        return joined
    }
}
