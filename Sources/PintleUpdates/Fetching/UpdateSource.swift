#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The servers of an app's updates, and the transport that asks them.
public struct UpdateSource: Sendable {
    /// Static `https` URLs of the same document. The store asks all of them at once. It adopts the first valid answer
    /// at once, and a later answer if its version is higher.
    public let urls: [URL]
    /// The transport that asks the servers.
    public let transport: any UpdateTransport
    /// The time-out in seconds for all servers together; 30 by default.
    public var timeoutSeconds: Double = 30
    /// The time in seconds for which the store waits for the other servers after one has sent an update; 2 by default.
    package var graceSeconds: Double = 2

    /// - Parameters:
    ///   - urls: addresses of the same document, with the scheme `https`.
    ///   - transport: the transport that asks the servers; `SystemTrustTransport` of PintleRemote in most apps.
    public init(urls: [URL], transport: any UpdateTransport) {
        self.urls = urls
        self.transport = transport
    }
}
