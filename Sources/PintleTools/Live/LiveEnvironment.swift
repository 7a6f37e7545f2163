/// What live commands read from the environment, for their help.
enum LiveEnvironment {
    static let variables: [(name: String, help: String)] = [
        ("HTTPS_PROXY, ALL_PROXY, NO_PROXY", "How servers are reached: http:// (CONNECT), socks4a://, socks5://"),
        ("SSL_CERT_FILE, SSL_CERT_DIR", "Where the roots of this machine are"),
    ]
}
