#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The servers of an app's updates, and the way to ask them.
public struct UpdateSource: Sendable {
    /// Static `https` URLs of one and the same document. All are asked at once; the first valid answer is in force at
    /// once, and the highest version in the end.
    public let urls: [URL]
    /// Asks the servers.
    public let transport: any UpdateTransport
    /// The time-out in seconds for all servers together; 30 by default.
    public var timeoutSeconds: Double = 30
    /// The time in seconds that the other servers have to answer after one has brought an update; 2 by default.
    public var graceSeconds: Double = 2

    /// - Parameters:
    ///   - urls: of one and the same document, with the scheme `https`.
    ///   - transport: asks the servers; `SystemTrustTransport` of PintleURLSession in most apps.
    public init(urls: [URL], transport: any UpdateTransport) {
        self.urls = urls
        self.transport = transport
    }
}
