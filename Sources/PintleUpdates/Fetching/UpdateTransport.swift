/// Fetches updates. The module itself opens no connection.
///
/// `PintleRemote` has a transport that trusts the system's roots and applies no pinning policy. This is deliberate:
/// the signature protects an update, and a wrong pin must not block the update that corrects it.
public protocol UpdateTransport: Sendable {
    /// Asks a server once. Ends soon after its task is cancelled.
    ///
    /// - Parameter request: the server and the limits of the answer.
    /// - Returns: the document, or "not modified".
    /// - Throws: any error that kept the server from answering with a document, or an answer that is longer than
    ///   ``UpdateRequest/maximumBytes``.
    func fetch(_ request: UpdateRequest) async throws -> UpdateResponse
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request for the update document of one server.
public struct UpdateRequest: Sendable, Hashable {
    /// The address of the document, with the scheme `https`. A transport refuses other schemes.
    public let url: URL
    /// The entity tag of the active update, for the `If-None-Match` header (RFC 9110 section 13.1.2); `nil` if unknown.
    public let entityTag: String?
    /// The most bytes to read; a longer document is an error.
    public let maximumBytes: Int
    /// The time-out in seconds, from the DNS look-up to the last byte.
    public let timeoutSeconds: Double

    /// - Parameters:
    ///   - url: the address of the document, with the scheme `https`.
    ///   - entityTag: the entity tag of the active update, in quotes as in HTTP; `nil` if unknown.
    ///   - maximumBytes: the most bytes to read.
    ///   - timeoutSeconds: the time-out in seconds, from the DNS look-up to the last byte.
    public init(url: URL, entityTag: String?, maximumBytes: Int, timeoutSeconds: Double) {
        self.url = url
        self.entityTag = entityTag
        self.maximumBytes = maximumBytes
        self.timeoutSeconds = timeoutSeconds
    }
}

/// The answer of a server to an ``UpdateRequest``.
public enum UpdateResponse: Sendable, Hashable {
    /// The document and the value of its `ETag` field, if it has one (status 200).
    case document([UInt8], entityTag: String?)
    /// The document still has the entity tag of the request (status 304).
    case notModified
}
