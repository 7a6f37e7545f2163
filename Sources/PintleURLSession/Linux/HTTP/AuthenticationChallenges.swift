/// The challenges of a `WWW-Authenticate` field (RFC 9110 section 11.6.1). In this list commas separate both challenges
/// and parameters. Parts that do not fit the grammar are skipped.
struct AuthenticationChallenges {
    struct Challenge: Equatable {
        /// The name of the scheme in lower case.
        let scheme: String
        /// The parameters by lower-case name, without quotes. If a name repeats, the first one counts.
        var parameters: [String: String] = [:]
    }

    /// The largest number of challenges that are read. No real server sends as many.
    static let limit = 16

    private(set) var all: [Challenge] = []

    /// - Parameter values: The values of the field, each of any length.
    init(_ values: [String]) {
        for value in values {
            var rest = Array(value.utf8)[...]
            read(&rest)
        }
    }

    private mutating func read(_ rest: inout ArraySlice<UInt8>) {
        var isInChallenge = false
        var isAfterComma = true
        while !rest.isEmpty {
            let blanks = rest.prefix { $0 == UInt8(ascii: ",") || Self.isBlank($0) }
            isAfterComma = isAfterComma || blanks.contains(UInt8(ascii: ","))
            rest = rest.dropFirst(blanks.count)
            let name = Self.token(&rest)
            let isWhole = rest.first.map { Self.isBlank($0) || $0 == UInt8(ascii: ",") } ?? true
            let equals = rest.drop(while: Self.isBlank)
            if isInChallenge, !name.isEmpty, let (value, end) = Self.value(equals) {
                let key = name.lowercased()
                if all[all.endIndex - 1].parameters[key] == nil { all[all.endIndex - 1].parameters[key] = value }
                rest = end
            } else if isAfterComma, isWhole, !name.isEmpty {
                guard all.count < Self.limit else { return }
                all.append(Challenge(scheme: name.lowercased()))
                isInChallenge = true
            } else {
                // A token68 or invalid text: skip it.
                rest = rest.drop { $0 != UInt8(ascii: ",") }
            }
            isAfterComma = false
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func token(_ rest: inout ArraySlice<UInt8>) -> String {
        let token = rest.prefix(while: HeaderToken.isByte)
        rest = rest.dropFirst(token.count)
        return String(decoding: token, as: UTF8.self)
    }

    /// Parses an equals sign and the token or quoted string after it. Returns the value and the rest, or `nil`.
    private static func value(_ text: ArraySlice<UInt8>) -> (String, rest: ArraySlice<UInt8>)? {
        guard text.first == UInt8(ascii: "=") else { return nil }
        var rest = text.dropFirst().drop(while: isBlank)
        guard rest.first == UInt8(ascii: "\"") else {
            let value = token(&rest)
            let isWhole = rest.first.map { isBlank($0) || $0 == UInt8(ascii: ",") } ?? true
            return value.isEmpty || !isWhole ? nil : (value, rest)
        }
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return (String(decoding: value, as: UTF8.self), rest)
            case UInt8(ascii: "\\"): if let escaped = rest.popFirst() { value.append(escaped) }
            default: value.append(byte)
            }
        }
        return nil
    }
}
