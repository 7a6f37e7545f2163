internal import Foundation
internal import FoundationNetworking
internal import Pintle
internal import PintleOpenSSL

/// The proxies of a session: those of its configuration, or else those of the environment. Both are read once, when the
/// session is made.
struct ProxySetting: Sendable {
    private enum Source: Sendable {
        case configuration(https: ProxyConfiguration, http: ProxyConfiguration)
        case environment(ProxyEnvironment)
        case unusable(SessionRefusal)
    }

    private let source: Source

    init(_ configuration: URLSessionConfiguration) {
        do throws(SessionRefusal) {
            source =
                if let dictionary = configuration.connectionProxyDictionary {
                    .configuration(https: try Self.proxy(dictionary, "HTTPS"), http: try Self.proxy(dictionary, "HTTP"))
                } else {
                    .environment(try Self.environment())
                }
        } catch {
            source = .unusable(error)
        }
    }

    /// Returns the proxy for a URL; `nil` if libcurl has to read the environment itself.
    func proxy(for url: CurlURL) throws(SessionRefusal) -> ProxyConfiguration? {
        switch source {
        case .configuration(let https, let http): url.scheme == .https ? https : http
        case .environment(let environment):
            url.scheme == .https ? environment.proxy(for: HandshakeTarget(url.endpoint)) : nil
        case .unusable(let refusal): throw refusal
        }
    }

    private static func proxy(
        _ dictionary: [AnyHashable: Any], _ kind: String
    ) throws(SessionRefusal) -> ProxyConfiguration {
        // Apple's key names. A setting that is not supported is an error: ignoring it could send traffic around a proxy
        // that guards the network.
        for key in ["ProxyAutoConfigEnable", "ProxyAutoDiscoveryEnable", "HTTPSProxyType"] where isOn(dictionary[key]) {
            throw SessionRefusal(
                .unsupportedProxy, "\(key) in connectionProxyDictionary is not supported",
                hint: "name the proxy with HTTPSProxy and HTTPSPort, or SOCKSProxy and SOCKSPort")
        }
        if isOn(dictionary["\(kind)Enable"]) || isNamedAlone(kind, dictionary) {
            return .http(try endpoint(dictionary, kind), credentials(dictionary))
        }
        if isOn(dictionary["SOCKSEnable"]) || isNamedAlone("SOCKS", dictionary) {
            return .socks5(try endpoint(dictionary, "SOCKS"), credentials(dictionary))
        }
        return .none
    }

    private static func environment() throws(SessionRefusal) -> ProxyEnvironment {
        do {
            return try ProxyEnvironment(ProcessInfo.processInfo.environment)
        } catch {
            throw SessionRefusal(.unsupportedProxy, error.message, hint: error.hint)
        }
    }

    private static func isOn(_ value: Any?) -> Bool {
        guard let value else { return false }
        return (value as? NSNumber)?.boolValue ?? (value as? Bool) ?? true
    }

    private static func isNamedAlone(_ kind: String, _ dictionary: [AnyHashable: Any]) -> Bool {
        dictionary["\(kind)Enable"] == nil && dictionary["\(kind)Proxy"] != nil
    }

    private static func endpoint(_ dictionary: [AnyHashable: Any], _ kind: String) throws(SessionRefusal)
        -> ServerEndpoint
    {
        guard let host = dictionary["\(kind)Proxy"] as? String,
            let port = (dictionary["\(kind)Port"] as? NSNumber).flatMap({ UInt16(exactly: $0) })
                ?? (dictionary["\(kind)Port"] as? Int).flatMap({ UInt16(exactly: $0) }),
            let name = try? ServerName(host), port > 0
        else {
            throw SessionRefusal(
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
