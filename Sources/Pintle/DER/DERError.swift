/// The reason why bytes are not the expected DER, and the position (X.690 section 10, RFC 5280 section 4).
public struct DERError: Error, Sendable, Hashable {
    /// The kind of mistake. The raw value is for people: `description` prints it after the name of the field.
    package enum Reason: String, Sendable, Hashable {
        case truncated = "ends too early"
        case highTagNumber = "has a tag number above 30"
        case indefiniteLength = "has an indefinite length"
        case nonMinimalLength = "has a length that is not in its shortest form"
        case lengthTooLarge = "has a length of more than four octets"
        case unexpectedTag = "has another type than the one that belongs here"
        case trailingData = "is followed by bytes that do not belong there"
        case invalidValue = "has a value that its type does not allow"
        case duplicate = "stands there twice"
        case tooLarge = "is larger, or holds more, than any certificate may"
    }

    package let reason: Reason
    /// The offset of the faulty element from the first byte of the input.
    package let offset: Int
    /// The field that was being read, as the standard names it: `tbsCertificate.validity`.
    package let field: StaticString

    package init(_ reason: Reason, at offset: Int, reading field: StaticString) {
        self.reason = reason
        self.offset = offset
        self.field = field
    }

    /// Returns true if the reason, the offset and the field are equal.
    public static func == (left: DERError, right: DERError) -> Bool {
        left.reason == right.reason && left.offset == right.offset && left.field.description == right.field.description
    }

    /// Hashes the reason and the offset.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(offset)
    }
}

extension DERError: CustomStringConvertible {
    /// The field, its byte offset and the kind of mistake, for people.
    public var description: String { "\(field) at byte \(offset) \(reason.rawValue)" }
}
