/// The answer of a server that was asked for its document.
public enum UpdateResponse: Sendable, Hashable {
    /// The document and the value of its `ETag` field, if it has one (status 200).
    case document([UInt8], entityTag: String?)
    /// The document is the one of the request's entity tag (status 304).
    case notModified
}
