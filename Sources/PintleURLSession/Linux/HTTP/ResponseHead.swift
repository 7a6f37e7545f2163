/// The head of a response, as the server sent it.
struct ResponseHead: Sendable {
    var status = 0
    /// For example `HTTP/1.1`.
    var version = ""
    var fields: [(name: String, value: FieldValue)] = []
    /// The announced length of the content in bytes, as it is encoded. ``checkFraming(isStream:)`` reads it.
    var length: Int64?
    /// The facts about the connection; `nil` for plain HTTP.
    var connection: ConnectionFacts?

    /// Returns the values of a field. `name` is in lower case.
    func values(of name: String) -> [String] {
        fields.compactMap { $0.name.isField(name) ? $0.value.text : nil }
    }

    /// Returns `true` if the head has a field. `name` is in lower case.
    func has(_ name: String) -> Bool { fields.contains { $0.name.isField(name) } }

    /// Fields that libcurl interprets itself. It treats a folded line after one of these as another field.
    private static let framing: Set<String> = [
        "connection", "content-encoding", "content-length", "transfer-encoding",
    ]

    /// Appends a folded line to the last field, with a blank in place of the line break (RFC 9112 section 5.2).
    ///
    /// - Returns: `false` for a field that must not be folded.
    mutating func unfold(_ value: FieldValue) -> Bool {
        guard let last = fields.indices.last, !Self.framing.contains(fields[last].name.lowercased()) else {
            return false
        }
        if !value.text.isEmpty { fields[last].value.append(value) }
        return true
    }

    /// The fields with the values of each name joined into one list (RFC 9110 section 5.3). Foundation splits
    /// `Set-Cookie` again.
    var joinedFields: [String: String] {
        var joined = [String: String](minimumCapacity: fields.count)
        guard mayHaveRepeatedNames else {
            for field in fields { joined[field.name] = field.value.text }
            return joined
        }
        var spelling: [String: String] = [:]
        for field in fields {
            let name = spelling[field.name.lowercased()] ?? field.name
            spelling[field.name.lowercased()] = name
            joined[name] = joined[name].map { "\($0), \(field.value.text)" } ?? field.value.text
        }
        return joined
    }

    /// A Boolean value that indicates whether two names may be equal without regard to case. It is always `true` for
    /// long heads: comparing each name with each other one would take too long.
    private var mayHaveRepeatedNames: Bool {
        guard fields.count <= 16 else { return true }
        return fields.indices.contains { index in
            fields[..<index].contains { $0.name.isField(fields[index].name) }
        }
    }
}

extension String {
    /// Compares two names of fields without regard to the case of ASCII letters.
    func isField(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            // A buffer is read ten times faster than a view of a string.
            && withFastUTF8 { name in
                other.withFastUTF8 { other in name.elementsEqual(other) { $0.lowercased == $1.lowercased } }
            }
    }

    private func withFastUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        var copy = self
        return copy.withUTF8(body)
    }
}

extension UInt8 {
    fileprivate var lowercased: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}
