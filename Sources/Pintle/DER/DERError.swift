/// Where and why bytes are not the DER they should be (X.690 section 10, RFC 5280 section 4).
public struct DERError: Error, Sendable, Hashable {
    /// What is wrong with the element. The raw value is for people: it follows the name of the field.
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
    /// Offset of the offending element from the first byte of the input.
    package let offset: Int
    /// What was being read, in the words of the standard: `tbsCertificate.validity`.
    package let field: StaticString

    package init(_ reason: Reason, at offset: Int, reading field: StaticString) {
        self.reason = reason
        self.offset = offset
        self.field = field
    }

    /// Returns true where the reason, the place and the field are the same.
    public static func == (left: DERError, right: DERError) -> Bool {
        left.reason == right.reason && left.offset == right.offset && left.field.description == right.field.description
    }

    /// Hashes the reason and the place.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(offset)
    }
}

extension DERError: CustomStringConvertible {
    /// The field, its offset in bytes and what is wrong with it, for people.
    public var description: String { "\(field) at byte \(offset) \(reason.rawValue)" }
}
