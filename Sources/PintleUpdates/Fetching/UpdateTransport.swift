/// How updates are fetched: the module itself opens no connection.
///
/// `PintleURLSession` has one that trusts what the system trusts and no policy. It must be so: the signature protects an
/// update, and a broken pin must not keep its own remedy away.
public protocol UpdateTransport: Sendable {
    /// Asks a server once. Ends soon after its task is cancelled.
    ///
    /// - Throws: whatever kept the server from answering with a document, or with more than ``UpdateRequest/maximumBytes``
    ///   while they were read.
    func fetch(_ request: UpdateRequest) async throws -> UpdateResponse
}

/// What is asked of a server.
public struct UpdateRequest: Sendable, Hashable {
    /// `https`.
    public let url: String
    /// The entity tag of what is in force, as `If-None-Match` has it (RFC 9110 section 13.1.2); `nil`: none is known.
    public let entityTag: String?
    /// What is longer is not read to its end.
    public let maximumBytes: Int
    /// In seconds, for everything from the name's look-up to the last byte.
    public let timeout: Double

    public init(url: String, entityTag: String?, maximumBytes: Int, timeout: Double) {
        self.url = url
        self.entityTag = entityTag
        self.maximumBytes = maximumBytes
        self.timeout = timeout
    }
}

/// What a server answered.
public enum UpdateResponse: Sendable, Hashable {
    case document([UInt8], entityTag: String?)
    /// The document is the one of the request's entity tag (status 304).
    case notModified
}

/// Where updates of an app are found.
public struct UpdateSource: Sendable {
    /// Static `https` URLs of one and the same document. All are asked at once; the first valid answer is in force at
    /// once, and the highest version in the end.
    public let urls: [String]
    public let transport: any UpdateTransport
    /// In seconds, for all of them together.
    public var timeout: Double = 30
    /// In seconds: how long the others are waited for once one has brought an update.
    public var grace: Double = 2

    public init(urls: [String], transport: any UpdateTransport) {
        self.urls = urls
        self.transport = transport
    }
}
