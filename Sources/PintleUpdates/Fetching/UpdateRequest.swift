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
