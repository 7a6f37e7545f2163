internal import Foundation
internal import FoundationNetworking
internal import Pintle
internal import PintleOpenSSL

/// The proxies of a session: those of its configuration, or else those of the environment. Both are read once, when the
/// session is made.
///
/// libcurl never reads the environment itself. It would call `getenv` for each transfer on the transport thread, which
/// races with a `setenv` of the app.
struct ProxySetting: Sendable {
    /// Indirect, because each request copies the setting.
    private indirect enum Source: Sendable {
        case configuration(https: ProxyConfiguration, http: ProxyConfiguration)
        /// Separate results, so that a setting for `http` that cannot be used does not stop requests over `https`.
        case environment(
            https: Result<ProxyEnvironment, SessionError>, http: Result<ProxyEnvironment, SessionError>)
        case unusable(SessionError)
    }

    private let source: Source
    /// A sentence about the exceptions of the environment that were skipped, for an event; `nil` if there are none.
    var skipped: String? {
        guard case .environment(let https, let http) = source else { return nil }
        if let skipped = (try? http.get())?.skipped { return skipped + ", which can read plain http" }
        return (try? https.get())?.skipped
    }

    /// - Parameters:
    ///   - configuration: The configuration that the app passed.
    ///   - environment: The variables of the process. Only tests pass others.
    init(
        _ configuration: URLSessionConfiguration,
        environment: @autoclosure () -> [String: String] = ProcessInfo.processInfo.environment
    ) {
        guard let dictionary = configuration.connectionProxyDictionary else {
            let variables = environment()
            source = .environment(
                https: Self.proxies(in: variables, for: .https), http: Self.proxies(in: variables, for: .http))
            return
        }
        do throws(SessionError) {
            source = .configuration(
                https: try Self.proxy(dictionary, "HTTPS"), http: try Self.proxy(dictionary, "HTTP"))
        } catch {
            source = .unusable(error)
        }
    }

    /// Returns the proxy for a URL.
    func proxy(for url: CurlURL) throws(SessionError) -> ProxyConfiguration {
        switch source {
        case .configuration(let https, let http): url.scheme == .https ? https : http
        case .environment(let https, let http):
            try (url.scheme == .https ? https : http).get().proxy(for: url.endpoint)
        case .unusable(let error): throw error
        }
    }

    private static func proxy(
        _ dictionary: [AnyHashable: Any], _ kind: String
    ) throws(SessionError) -> ProxyConfiguration {
        // Apple's key names. A setting that is not supported is an error: ignoring it could send traffic around a proxy
        // that guards the network.
        for key in ["ProxyAutoConfigEnable", "ProxyAutoDiscoveryEnable", "HTTPSProxyType"] where isOn(dictionary[key]) {
            throw SessionError(
                .unsupportedProxy, "\(key) in connectionProxyDictionary is not supported",
                hint: "name the proxy with HTTPSProxy and HTTPSPort, or SOCKSProxy and SOCKSPort")
        }
        let isHTTP = isOn(dictionary["\(kind)Enable"]) || isNamedAlone(kind, dictionary)
        guard isHTTP || isOn(dictionary["SOCKSEnable"]) || isNamedAlone("SOCKS", dictionary) else { return .none }
        for (key, isSet) in [
            ("ExceptionsList", isFilled(dictionary["ExceptionsList"])),
            ("ExcludeSimpleHostnames", isOn(dictionary["ExcludeSimpleHostnames"])),
        ] where isSet {
            throw SessionError(
                .unsupportedProxy, "\(key) in connectionProxyDictionary is not supported",
                hint: "remove it, and reach such hosts through a session whose connectionProxyDictionary is empty")
        }
        if isHTTP {
            let credentials = credentials(dictionary)
            if let user = credentials?.user, user.utf8.contains(UInt8(ascii: ":")) {
                throw SessionError(
                    .unsupportedProxy,
                    "the user name in kCFProxyUsernameKey has a colon and cannot be sent (RFC 7617 section 2)",
                    hint: "ask the operator of the proxy for a user name without a colon")
            }
            return .http(try endpoint(dictionary, kind), credentials)
        }
        return .socks5(try endpoint(dictionary, "SOCKS"), credentials(dictionary))
    }

    private static func proxies(
        in environment: [String: String], for scheme: ProxyEnvironment.Scheme
    ) -> Result<ProxyEnvironment, SessionError> {
        do {
            return .success(try ProxyEnvironment(environment, for: scheme))
        } catch {
            return .failure(SessionError(.unsupportedProxy, error.message, hint: error.hint))
        }
    }

    private static func isFilled(_ list: Any?) -> Bool {
        guard let list else { return false }
        return (list as? [Any])?.isEmpty != true && (list as? NSArray)?.count != 0
    }

    private static func isOn(_ value: Any?) -> Bool {
        guard let value else { return false }
        return (value as? NSNumber)?.boolValue ?? (value as? Bool) ?? true
    }

    private static func isNamedAlone(_ kind: String, _ dictionary: [AnyHashable: Any]) -> Bool {
        dictionary["\(kind)Enable"] == nil && dictionary["\(kind)Proxy"] != nil
    }

    private static func endpoint(_ dictionary: [AnyHashable: Any], _ kind: String) throws(SessionError)
        -> ServerEndpoint
    {
        guard let host = dictionary["\(kind)Proxy"] as? String,
            let port = (dictionary["\(kind)Port"] as? NSNumber).flatMap({ UInt16(exactly: $0) })
                ?? (dictionary["\(kind)Port"] as? Int).flatMap({ UInt16(exactly: $0) }),
            let name = try? ServerName(host), port > 0
        else {
            throw SessionError(
                .unsupportedProxy, "the \(kind) proxy in connectionProxyDictionary names no host and port",
                hint: "\(kind)Proxy is a host name without a scheme (https:// proxies are not supported), "
                    + "\(kind)Port a number")
        }
        return ServerEndpoint(host: name, port: port)
    }

    private static func credentials(_ dictionary: [AnyHashable: Any]) -> ProxyCredentials? {
        guard let user = dictionary["kCFProxyUsernameKey"] as? String else { return nil }
        return ProxyCredentials(user: user, password: dictionary["kCFProxyPasswordKey"] as? String ?? "")
    }
}
