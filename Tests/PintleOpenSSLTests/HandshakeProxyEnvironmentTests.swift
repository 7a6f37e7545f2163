import Pintle
import PintleOpenSSL
import PintleTLSClient
import Testing

@Suite("Proxy settings from the environment")
struct HandshakeProxyEnvironmentTests {
    private func proxy(
        _ environment: [String: String], host: String = "www.example.com", port: UInt16 = 443
    ) throws -> ProxyConfiguration {
        try ProxyEnvironment(environment).proxy(for: ServerEndpoint(host: host, port: port))
    }

    private func expectError(_ kind: ProxyError.Kind, _ environment: [String: String]) -> ProxyError? {
        let error = #expect(throws: ProxyError.self) { try ProxyEnvironment(environment) }
        #expect(error?.kind == kind)
        return error
    }

    @Test("Missing or empty settings mean no proxy")
    func nothingSet() throws {
        #expect(try proxy([:]) == .none)
        #expect(try proxy(["HTTPS_PROXY": "", "all_proxy": "", "NO_PROXY": ""]) == .none)
        #expect(try proxy(["HTTP_PROXY": "http://proxy.example:3128"]) == .none)
    }

    @Test("The first non-empty one of https_proxy, HTTPS_PROXY, all_proxy and ALL_PROXY wins")
    func precedence() throws {
        var environment = [
            "https_proxy": "http://one.example:1", "HTTPS_PROXY": "http://two.example:2",
            "all_proxy": "http://three.example:3", "ALL_PROXY": "http://four.example:4",
        ]
        #expect(try proxy(environment) == .http(ServerEndpoint(host: "one.example", port: 1)))
        environment["https_proxy"] = ""
        #expect(try proxy(environment) == .http(ServerEndpoint(host: "two.example", port: 2)))
        environment["HTTPS_PROXY"] = nil
        #expect(try proxy(environment) == .http(ServerEndpoint(host: "three.example", port: 3)))
        environment["all_proxy"] = nil
        #expect(try proxy(environment) == .http(ServerEndpoint(host: "four.example", port: 4)))
    }

    @Test("For http the first non-empty one of http_proxy, all_proxy and ALL_PROXY wins; HTTP_PROXY is not read")
    func precedenceForHTTP() throws {
        func proxy(_ environment: [String: String]) throws -> ProxyConfiguration {
            try ProxyEnvironment(environment, for: .http).proxy(for: ServerEndpoint(host: "a.example", port: 80))
        }
        var environment = [
            "http_proxy": "http://one.example:1", "HTTP_PROXY": "http://two.example:2",
            "all_proxy": "http://three.example:3", "ALL_PROXY": "http://four.example:4",
            "https_proxy": "http://five.example:5", "HTTPS_PROXY": "http://six.example:6",
        ]
        #expect(try proxy(environment) == .http(ServerEndpoint(host: "one.example", port: 1)))
        environment["http_proxy"] = ""
        #expect(try proxy(environment) == .http(ServerEndpoint(host: "three.example", port: 3)))
        environment["all_proxy"] = nil
        #expect(try proxy(environment) == .http(ServerEndpoint(host: "four.example", port: 4)))
        environment["no_proxy"] = "a.example"
        #expect(try proxy(environment) == .none)
        environment["ALL_PROXY"] = nil
        environment["no_proxy"] = nil
        #expect(try proxy(environment) == .none)
    }

    @Test("Every supported kind of proxy is parsed, with decoded credentials")
    func kinds() throws {
        let credentials = ProxyCredentials(user: "me@home", password: "p:w/d")
        func read(_ url: String) throws -> ProxyConfiguration { try proxy(["HTTPS_PROXY": url]) }
        let endpoint = try ServerEndpoint(host: "proxy.example", port: 3128)
        #expect(try read("proxy.example:3128") == .http(endpoint))
        #expect(try read("HTTP://proxy.example:3128/") == .http(endpoint))
        #expect(try read("http://me%40home:p:w%2fd@proxy.example:3128") == .http(endpoint, credentials))
        #expect(try read("socks5://proxy.example:3128") == .socks5(endpoint, remoteDNS: false))
        #expect(try read("socks5h://me%40home:p%3Aw%2Fd@proxy.example:3128") == .socks5(endpoint, credentials))
        #expect(try read("socks4a://me@proxy.example:3128") == .socks4a(endpoint, user: "me"))
        #expect(try read("socks5h://proxy.example") == .socks5(ServerEndpoint(host: "proxy.example", port: 1080)))
        #expect(try read("http://[::1]:3128") == .http(ServerEndpoint(host: "::1", port: 3128)))
    }

    @Test("An https:// proxy and an unknown kind are errors with a clear text", arguments: ["https", "socks4", "ftp"])
    func unsupported(scheme: String) throws {
        let error = expectError(.unsupported, ["HTTPS_PROXY": "\(scheme)://proxy.example:3128"])
        #expect(error?.message.contains(scheme) == true)
        #expect(error?.message.contains("HTTPS_PROXY") == true)
    }

    @Test(
        "A malformed setting is an error, never 'no proxy', and the error contains no password",
        arguments: [
            "http://", " ", "http://u:secret@", "http://u:secret@proxy.example", "http://u:secret@proxy.example:x",
            "http://u:secret@proxy.example:0", "http://u:secret@proxy.example:65536", "http://u:sec%2ret@p.example:1",
            "http://u:sec%@p.example:1", "http://u:secret%ff@p.example:1", "http://u:secret/x@p.example:1",
            "http://u:secret@127.1:1", "http://u:se cret@p.example:1", "http://u%3Av:secret@p.example:1",
            "http://p.example:x/secret", "http://u:1/secret@p.example:1", "http://u:1?secret@p.example:1",
            "http://u:1#secret@p.example:1", "http://u:secret@p.example:+1", "http:///secret", "p.example/secret",
            "http://u:secret@[::1:1", "proxy.example:",
        ])
    func unreadable(value: String) {
        let error = expectError(.invalid, ["all_proxy": value])
        #expect(error?.message.contains("all_proxy") == true)
        #expect("\(String(describing: error))".contains("secret") == false)
    }

    @Test("Printed credentials do not show the password")
    func credentialsAreNotPrinted() {
        let credentials = ProxyCredentials(user: "me", password: "secret")
        #expect("\(credentials) \(String(reflecting: credentials))".contains("secret") == false)
    }

    @Test(
        "NO_PROXY covers a name and its sub-domains, addresses, networks and ports",
        arguments: [
            ("*", "www.example.com"), ("example.com", "www.example.com"), ("example.com", "example.com"),
            (".example.com", "www.example.com"), (".example.com", "example.com"), ("*.example.com", "www.example.com"),
            ("Example.COM.", "www.example.com"), ("a.test, example.com", "www.example.com"),
            ("a.test example.com", "www.example.com"), ("www.example.com:443", "www.example.com"),
            ("10.0.0.0/8", "10.1.2.3"), ("10.1.2.3", "10.1.2.3"), ("::1", "::1"), ("[::1]", "::1"),
            ("[::1]:443", "::1"),
            ("0:0::1", "::1"), ("fd00::/8", "fd12::1"), ("127.0.0.1:443", "127.0.0.1"), ("0.0.0.0/0", "9.9.9.9"),
        ])
    func covered(list: String, host: String) throws {
        #expect(try proxy(["ALL_PROXY": "p.example:1", "NO_PROXY": list], host: host) == .none)
    }

    @Test("NO_PROXY also covers the host of connectTo", arguments: ["192.0.2.7", "www.example.com", "*"])
    func excludedDestination(list: String) throws {
        let endpoint = try ServerEndpoint(host: "www.example.com", port: 443)
        let machine = try ServerEndpoint(host: "192.0.2.7", port: 8443)
        let environment = try ProxyEnvironment(["ALL_PROXY": "p.example:1", "NO_PROXY": list])
        #expect(environment.proxy(for: endpoint, connectTo: machine) == .none)
        let other = try ServerEndpoint(host: "192.0.2.8", port: 8443)
        let elsewhere = try ServerEndpoint(host: "www.example.org", port: 443)
        let isEverything = list == "*"
        #expect((environment.proxy(for: elsewhere, connectTo: other) == .none) == isEverything)
    }

    @Test(
        "NO_PROXY covers no other hosts",
        arguments: [
            ("example.com", "badexample.com"), ("www.example.com", "example.com"), ("example.com:8443", "example.com"),
            ("com.example", "example.com"), ("10.0.0.0/8", "11.1.2.3"), ("10.1.2.0/25", "10.1.2.128"),
            ("::/0", "10.0.0.1"),
            ("fd00::/8", "fc00::1"), ("", "a.example"),
        ])
    func notCovered(list: String, host: String) throws {
        #expect(try proxy(["ALL_PROXY": "p.example:1", "NO_PROXY": list], host: host) != .none)
    }

    @Test("The lower-case no_proxy wins over NO_PROXY")
    func lowerCaseFirst() throws {
        let environment = ["ALL_PROXY": "p.example:1", "no_proxy": "other.example", "NO_PROXY": "*"]
        #expect(try proxy(environment) != .none)
    }

    @Test(
        "What follows the proxy's port is ignored, as in curl",
        arguments: ["/", "/path", "/a/b:2?c#d", "?query", "#fragment", "//", "/:9"])
    func path(suffix: String) throws {
        for prefix in ["http://", ""] {
            let expected = ProxyConfiguration.http(try ServerEndpoint(host: "p.example", port: 3128))
            #expect(try proxy(["HTTPS_PROXY": "\(prefix)p.example:3128\(suffix)"]) == expected)
        }
        let credentials = ProxyCredentials(user: "me", password: "a/b")
        let endpoint = try ServerEndpoint(host: "p.example", port: 3128)
        #expect(try proxy(["HTTPS_PROXY": "http://me:a%2Fb@p.example:3128\(suffix)"]) == .http(endpoint, credentials))
    }

    private static let unreadableEntries = [
        "10.0.0.0/33", "10.0.0/8", "exa/mple", "a..b", "example.com:port", "127.1", "http://example.com", "10.*",
        "<local>", "127.0.0.0/", "local*", "::/129", "\u{E9}.example",
    ]

    @Test(
        "An entry of NO_PROXY that cannot be read is skipped and named; the other entries count",
        arguments: unreadableEntries)
    func unreadableException(entry: String) throws {
        for list in ["ok.example,\(entry)", "\(entry) ok.example"] {
            let environment = ["ALL_PROXY": "p.example:1", "NO_PROXY": list]
            for (host, isExcepted) in [("www.ok.example", true), ("10.0.0.1", false), ("127.0.0.1", false)] {
                #expect((try proxy(environment, host: host) == .none) == isExcepted, "\(host)")
            }
            let skipped = try #require(try ProxyEnvironment(environment).skipped)
            #expect(skipped.hasPrefix("NO_PROXY ") && skipped.contains(entry.replacing("\u{E9}", with: "??")))
            #expect(!skipped.contains("ok.example"))
        }
    }

    @Test("A readable NO_PROXY, and one without a proxy, skips no entry")
    func nothingSkipped() throws {
        #expect(
            try ProxyEnvironment(["ALL_PROXY": "p.example:1", "NO_PROXY": "a.example,10.0.0.0/8,*"]).skipped == nil)
        #expect(try ProxyEnvironment(["ALL_PROXY": "p.example:1"]).skipped == nil)
        #expect(try ProxyEnvironment(["NO_PROXY": "10.*"]).skipped == nil)
    }

    @Test("The sentence about skipped entries has a limit, however long the list is")
    func longList() throws {
        let list = (0..<1_000).map { "<\($0)\(String(repeating: "x", count: 1_000))>" }.joined(separator: ",")
        let skipped = try ProxyEnvironment(["ALL_PROXY": "p.example:1", "no_proxy": list]).skipped ?? ""
        #expect(skipped.hasPrefix("no_proxy ") && skipped.contains("and 995 more") && skipped.utf8.count < 700)
    }

    @Test("A proxy that cannot be read stays an error beside an entry that is skipped")
    func unreadableProxy() {
        _ = expectError(.invalid, ["ALL_PROXY": "p.example:x", "NO_PROXY": "10.*"])
        _ = expectError(.unsupported, ["ALL_PROXY": "https://p.example:1", "NO_PROXY": "10.*"])
    }
}
