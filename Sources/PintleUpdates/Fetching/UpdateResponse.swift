/// The answer of a server to an ``UpdateRequest``.
public enum UpdateResponse: Sendable, Hashable {
    /// The document and the value of its `ETag` field, if it has one (status 200).
    case document([UInt8], entityTag: String?)
    /// The document still has the entity tag of the request (status 304).
    case notModified
}
