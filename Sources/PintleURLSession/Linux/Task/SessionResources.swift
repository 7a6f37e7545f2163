internal import Foundation
internal import FoundationNetworking

/// The settings, stores and queues that the tasks of a session share.
///
/// `@unchecked`: the configuration is not changed after `init`, and no code outside this module has it. The operation queue
/// may be used from any thread.
final class SessionResources: @unchecked Sendable {
    let settings: URLSessionConfiguration
    let proxies: ProxySetting
    /// The configuration's, where Foundation's own loader does not find them.
    let credentials: CredentialStore
    let cache: ResponseCache
    /// Stores the cookies of four responses at a time. Others wait, so that the cost is bounded.
    let cookieQueue = OperationQueue()
    let transports: TransportProvider
    let registry: TaskRegistry

    /// - Parameters:
    ///   - configuration: as the app has it.
    ///   - settings: a copy without foreign loaders, cache and credentials.
    init(
        _ configuration: URLSessionConfiguration, settings: URLSessionConfiguration, transports: TransportProvider,
        delegate: (any URLSessionDelegate)?
    ) {
        self.settings = settings
        self.transports = transports
        proxies = ProxySetting(configuration)
        credentials = CredentialStore(storage: configuration.urlCredentialStorage)
        cache = ResponseCache(configuration.urlCache)
        registry = TaskRegistry(delegate: delegate)
        cookieQueue.maxConcurrentOperationCount = 4
    }
}
