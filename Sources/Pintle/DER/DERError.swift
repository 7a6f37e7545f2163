/// Where and why bytes are not the DER they should be (X.690 section 10, RFC 5280 section 4).
public struct DERError: Error, Sendable, Hashable {
    /// What is wrong with the element. The raw value is for people: it follows the name of the field.
    public enum Reason: String, Sendable, Hashable {
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

    public let reason: Reason
    /// Offset of the offending element from the first byte of the input.
    public let offset: Int
    /// What was being read, in the words of the standard: `tbsCertificate.validity`.
    public let field: StaticString

    package init(_ reason: Reason, at offset: Int, reading field: StaticString) {
        self.reason = reason
        self.offset = offset
        self.field = field
    }

    public static func == (left: DERError, right: DERError) -> Bool {
        left.reason == right.reason && left.offset == right.offset && left.field.description == right.field.description
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(offset)
    }
}

extension DERError: CustomStringConvertible {
    public var description: String { "\(field) at byte \(offset) \(reason.rawValue)" }
}
