internal import Foundation
internal import FoundationNetworking
internal import Pintle
internal import PintleOpenSSL

/// How a session reaches https servers: what its configuration says, or else the environment.
struct ProxySetting {
    private let dictionary: [AnyHashable: Any]?

    init(_ configuration: URLSessionConfiguration) {
        dictionary = configuration.connectionProxyDictionary
    }

    func proxy(for endpoint: ServerEndpoint) throws(SessionRefusal) -> ProxyConfiguration {
        guard let dictionary else { return try fromEnvironment(endpoint) }
        // Apple's names of the keys. What is not understood may be the guarded way out.
        for key in ["ProxyAutoConfigEnable", "ProxyAutoDiscoveryEnable", "HTTPSProxyType"] where isOn(dictionary[key]) {
            throw SessionRefusal(
                .unsupportedProxy, "\(key) in connectionProxyDictionary is not supported",
                hint: "name the proxy with HTTPSProxy and HTTPSPort, or SOCKSProxy and SOCKSPort")
        }
        if isOn(dictionary["HTTPSEnable"]) || isNamedAlone("HTTPS", dictionary) {
            return .http(try self.endpoint(dictionary, "HTTPS"), credentials(dictionary))
        }
        if isOn(dictionary["SOCKSEnable"]) || isNamedAlone("SOCKS", dictionary) {
            return .socks5(try self.endpoint(dictionary, "SOCKS"), credentials(dictionary))
        }
        return .none
    }

    private func fromEnvironment(_ endpoint: ServerEndpoint) throws(SessionRefusal) -> ProxyConfiguration {
        do {
            return try ProxyEnvironment(ProcessInfo.processInfo.environment).proxy(for: HandshakeTarget(endpoint))
        } catch {
            throw SessionRefusal(.unsupportedProxy, error.message, hint: error.hint)
        }
    }

    private func isOn(_ value: Any?) -> Bool {
        guard let value else { return false }
        return (value as? NSNumber)?.boolValue ?? (value as? Bool) ?? true
    }

    private func isNamedAlone(_ kind: String, _ dictionary: [AnyHashable: Any]) -> Bool {
        dictionary["\(kind)Enable"] == nil && dictionary["\(kind)Proxy"] != nil
    }

    private func endpoint(_ dictionary: [AnyHashable: Any], _ kind: String) throws(SessionRefusal) -> ServerEndpoint {
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

    private func credentials(_ dictionary: [AnyHashable: Any]) -> ProxyCredentials? {
        guard let user = dictionary["kCFProxyUsernameKey"] as? String else { return nil }
        return ProxyCredentials(user: user, password: dictionary["kCFProxyPasswordKey"] as? String ?? "")
    }
}
