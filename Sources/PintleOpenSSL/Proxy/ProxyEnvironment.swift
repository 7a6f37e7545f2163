/// The proxy settings of an environment, with the same meaning as in curl and most tools.
///
/// The proxy is the first non-empty one of `https_proxy`, `HTTPS_PROXY`, `all_proxy` and `ALL_PROXY`. `no_proxy`, or
/// else `NO_PROXY`, lists the hosts that bypass it. A setting that cannot be parsed is an error. It never means "no
/// proxy": otherwise a typing error could silently bypass a proxy that guards the network.
package struct ProxyEnvironment: Sendable {
    private let configuration: ProxyConfiguration
    private let exceptions: NoProxyList

    /// - Parameter environment: variable names and values of the process.
    /// - Throws: ``HandshakeError`` with the code `invalid-proxy` or `proxy-unsupported`. It names the variable and
    ///   contains no credentials.
    package init(_ environment: [String: String]) throws(HandshakeError) {
        func first(_ names: String...) -> (name: String, value: String)? {
            for name in names {
                if let value = environment[name], !value.isEmpty { return (name, value) }
            }
            return nil
        }
        if let setting = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY") {
            configuration = try ProxyURL(setting.value, from: setting.name).configuration
        } else {
            configuration = .none
        }
        if let setting = first("no_proxy", "NO_PROXY") {
            exceptions = try NoProxyList(setting.value, from: setting.name)
        } else {
            exceptions = NoProxyList()
        }
    }

    /// Returns the proxy for `target`. Returns `none` if the exceptions cover the target's host, or the one in
    /// `connectTo`.
    package func proxy(for target: HandshakeTarget) -> ProxyConfiguration {
        let isExcepted = exceptions.covers(target.endpoint) || exceptions.covers(target.destination)
        return isExcepted ? .none : configuration
    }
}
