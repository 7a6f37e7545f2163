/// The environment variables that several commands read, for their help.
package enum EnvironmentVariables {
    /// The variables of commands with live servers.
    package static let ofServers: [(name: String, help: String)] = [
        ("HTTPS_PROXY, ALL_PROXY, NO_PROXY", "The proxy to reach servers by: http:// (CONNECT), socks4a://, socks5://"),
        ("SSL_CERT_FILE, SSL_CERT_DIR", "The places of this machine's roots"),
    ]
    package static let passphrase = (
        name: "PINTLE_KEY_PASSPHRASE", help: "The passphrase of encrypted keys; without it, the terminal asks"
    )
}
