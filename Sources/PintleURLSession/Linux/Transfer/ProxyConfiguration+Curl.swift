internal import CCurl
internal import PintleOpenSSL

extension ProxyConfiguration {
    /// Sets every proxy option of libcurl, so that it does not read the environment itself.
    ///
    /// - Parameter tunnels: `true` if an HTTP proxy must only pass bytes on, as TLS needs.
    func set(on handle: UnsafeMutableRawPointer, tunnels: Bool) {
        func set(_ option: CURLoption, _ text: String) { pintle_curl_set_pointer(handle, option, text) }
        set(CURLOPT_NOPROXY, "")
        switch self {
        case .none:
            set(CURLOPT_PROXY, "")
        case .http(let proxy, let credentials):
            set(CURLOPT_PROXY, "http://\(proxy)")
            pintle_curl_set_long(handle, CURLOPT_HTTPPROXYTUNNEL, tunnels ? 1 : 0)
            if let credentials { setCredentials(credentials.user, credentials.password) }
        case .socks5(let proxy, let credentials, let remoteDNS):
            set(CURLOPT_PROXY, "\(remoteDNS ? "socks5h" : "socks5")://\(proxy)")
            if let credentials { setCredentials(credentials.user, credentials.password) }
        case .socks4a(let proxy, let user):
            set(CURLOPT_PROXY, "socks4a://\(proxy)")
            if let user { set(CURLOPT_PROXYUSERNAME, user) }
        }
        func setCredentials(_ user: String, _ password: String) {
            set(CURLOPT_PROXYUSERNAME, user)
            set(CURLOPT_PROXYPASSWORD, password)
        }
    }
}
