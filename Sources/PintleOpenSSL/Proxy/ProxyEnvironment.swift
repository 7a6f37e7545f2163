/// The proxy settings of an environment, as curl and most tools read them.
///
/// `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY`: the first that is not empty. `no_proxy`, else
/// `NO_PROXY`: the hosts that are reached without it. What cannot be read is an error and never "no
/// proxy": the difference may be the one between a guarded and an unguarded way out.
package struct ProxyEnvironment: Sendable {
    private let configuration: ProxyConfiguration
    private let exceptions: NoProxyList

    /// - Parameter environment: variable names and values, as the process has them.
    /// - Throws: ``HandshakeError`` with the code `invalid-proxy` or `proxy-unsupported`; it names the
    ///   variable, and shows no credentials.
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

    /// How `target` is reached: without a proxy where its own host is excepted, or the machine that `connectTo`
    /// names instead.
    package func proxy(for target: HandshakeTarget) -> ProxyConfiguration {
        let isExcepted = exceptions.covers(target.endpoint) || exceptions.covers(target.destination)
        return isExcepted ? .none : configuration
    }
}
