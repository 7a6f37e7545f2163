/// The challenges of a `WWW-Authenticate` field (RFC 9110 section 11.6.1): a list whose commas part challenges
/// and parameters alike. What does not fit the grammar is passed over.
struct AuthenticationChallenges {
    struct Challenge: Equatable {
        /// In lower case.
        let scheme: String
        /// By lower-case name, without quotes; of two of one name the first.
        var parameters: [String: String] = [:]
    }

    /// More than any server has a use for.
    static let limit = 16

    private(set) var all: [Challenge] = []

    /// - Parameter values: the field's, each of any length.
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
                // A token68, or nonsense.
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

    /// An equals sign and what it stands before: a token or a quoted string. With the rest; `nil` for anything else.
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
