package import Pintle

/// The proxy settings of an environment for one scheme, with the same meaning as in curl and most tools.
///
/// The proxy is the first non-empty variable of the scheme's list. `no_proxy`, or else `NO_PROXY`, lists the hosts that
/// bypass it. A proxy that cannot be parsed is an error. It never means "no proxy": otherwise a typing error could
/// silently bypass a proxy that guards the network. An exception that cannot be parsed is skipped, so its hosts are
/// reached through the proxy.
package struct ProxyEnvironment: Sendable {
    /// The scheme of the URLs that the proxy is for.
    package enum Scheme: Sendable {
        case https, http

        /// The variables in the order of precedence.
        ///
        /// As in curl, `HTTP_PROXY` is not read: a CGI program gets a request's `Proxy` field under that name
        /// (RFC 3875 section 4.1.18), so a client could choose the proxy.
        fileprivate var variables: [String] {
            (self == .https ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]) + ["all_proxy", "ALL_PROXY"]
        }
    }

    private let configuration: ProxyConfiguration
    private let exceptions: NoProxyList
    /// A sentence about the exceptions that were skipped, without its full stop; `nil` if there are none.
    package let skipped: String?

    /// The number of skipped exceptions that the sentence names.
    private static let mostNamed = 5

    /// - Parameters:
    ///   - environment: variable names and values of the process.
    ///   - scheme: the scheme that chooses the variables.
    /// - Throws: ``ProxyError``.
    package init(_ environment: [String: String], for scheme: Scheme = .https) throws(ProxyError) {
        func first(_ names: [String]) -> (name: String, value: String)? {
            for name in names {
                if let value = environment[name], !value.isEmpty { return (name, value) }
            }
            return nil
        }
        guard let setting = first(scheme.variables) else {
            // Exceptions to no proxy change nothing, so that a bad list does not stop a program that has none.
            (configuration, exceptions, skipped) = (.none, NoProxyList(), nil)
            return
        }
        configuration = try ProxyURL(setting.value, from: setting.name).configuration
        let list = first(["no_proxy", "NO_PROXY"])
        exceptions = list.map { NoProxyList($0.value) } ?? NoProxyList()
        let unreadable = exceptions.unreadable
        guard let list, !unreadable.isEmpty else {
            skipped = nil
            return
        }
        let named = unreadable.prefix(Self.mostNamed).map { "\"\($0)\"" }.joined(separator: ", ")
        let more = unreadable.count > Self.mostNamed ? " and \(unreadable.count - Self.mostNamed) more" : ""
        skipped =
            "\(list.name) has entries that are neither hosts nor networks (\(named)\(more)); they are skipped, so "
            + "requests to such hosts go through the proxy"
    }

    /// Returns the proxy for a server. Returns `none` if the exceptions cover its host, or the one in `connectTo`.
    package func proxy(for endpoint: ServerEndpoint, connectTo: ServerEndpoint? = nil) -> ProxyConfiguration {
        let isExcepted = exceptions.covers(endpoint) || connectTo.map(exceptions.covers) ?? false
        return isExcepted ? .none : configuration
    }
}
