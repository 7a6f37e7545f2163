#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request for the document of one server.
public struct UpdateRequest: Sendable, Hashable {
    /// The address of the document, with the scheme `https`. A transport refuses other schemes.
    public let url: URL
    /// The entity tag of the active update, as `If-None-Match` has it (RFC 9110 section 13.1.2); `nil` where none is known.
    public let entityTag: String?
    /// The most bytes to read; a longer document is an error.
    public let maximumBytes: Int
    /// The time-out in seconds, from the look-up of the name to the last byte.
    public let timeoutSeconds: Double

    /// - Parameters:
    ///   - url: of the document, with the scheme `https`.
    ///   - entityTag: of the active update, in quotes as HTTP writes it; `nil` for none.
    ///   - maximumBytes: the most bytes to read.
    ///   - timeoutSeconds: from the look-up of the name to the last byte.
    public init(url: URL, entityTag: String?, maximumBytes: Int, timeoutSeconds: Double) {
        self.url = url
        self.entityTag = entityTag
        self.maximumBytes = maximumBytes
        self.timeoutSeconds = timeoutSeconds
    }
}
