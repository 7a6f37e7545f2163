internal import Foundation
internal import FoundationNetworking

/// The settings, stores and queues that the tasks of a session share.
///
/// `@unchecked`: the configuration does not change after `init`, and no code outside this module has a reference to it.
/// The operation queue may be used from any thread.
final class SessionResources: @unchecked Sendable {
    let settings: URLSessionConfiguration
    let proxies: ProxySetting
    let fields: SessionFields
    /// The credentials of the configuration. They are not in `settings`, so Foundation's own loader cannot use them.
    let credentials: CredentialStore
    let cookieQueue = CookieQueue()
    /// The queue that asks the app for identities.
    let identityQueue = DispatchQueue(label: "pintle.identities")
    let transports: TransportProvider
    let registry: TaskRegistry

    /// - Parameters:
    ///   - configuration: The configuration that the app passed.
    ///   - settings: A copy of it without foreign `URLProtocol` classes, cache and credentials.
    init(
        _ configuration: URLSessionConfiguration, settings: URLSessionConfiguration, transports: TransportProvider,
        delegate: (any URLSessionDelegate)?
    ) {
        self.settings = settings
        self.transports = transports
        proxies = ProxySetting(configuration)
        fields = SessionFields(settings.httpAdditionalHeaders)
        credentials = CredentialStore(storage: configuration.urlCredentialStorage)
        // The app may keep the session or a finished task, which must not keep connections open.
        registry = TaskRegistry(delegate: delegate, end: { transports.removeAll() })
    }
}
