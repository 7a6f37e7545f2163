import Foundation
import FoundationNetworking
import PintleAttacks
import PintleOpenSSL
import PintleTestKit
import Testing

@testable import PintleTLSClient
@testable import PintleURLSession

/// The proxy settings of a session. `SessionExitTests` has those of a real environment.
@Suite("Pinned sessions: proxy settings")
struct SessionProxyTests {
    private func refusal(_ body: () throws -> ProxyConfiguration) -> SessionError? {
        let error = #expect(throws: SessionError.self) { _ = try body() }
        #expect(error?.code == .unsupportedProxy && error?.hint != nil)
        return error
    }

    /// Returns the proxy for a URL by a configuration's dictionary.
    private func proxy(_ dictionary: [AnyHashable: Any], for url: String = "https://a.example/") throws
        -> ProxyConfiguration
    {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = dictionary
        return try ProxySetting(configuration, environment: [:]).proxy(for: CurlURL(url))
    }

    @Test("The environment's proxies are used only if the configuration has no proxy dictionary")
    func environment() throws {
        let environment = ["https_proxy": "http://one.example:1", "http_proxy": "http://two.example:2"]
        let configuration = URLSessionConfiguration.ephemeral
        let (secure, plain) = (try CurlURL("https://a.example/"), try CurlURL("http://a.example/"))
        let used = ProxySetting(configuration, environment: environment)
        #expect(try used.proxy(for: secure) == .http(ServerEndpoint(host: "one.example", port: 1)))
        #expect(try used.proxy(for: plain) == .http(ServerEndpoint(host: "two.example", port: 2)))
        configuration.connectionProxyDictionary = [:]
        let unused = ProxySetting(configuration, environment: environment)
        #expect(try unused.proxy(for: secure) == .none && unused.proxy(for: plain) == .none)
    }

    @Test("Without a setting libcurl is told to use no proxy, so that it does not read the environment")
    func nothingSet() throws {
        let setting = ProxySetting(.ephemeral, environment: ["HTTP_PROXY": "http://attacker.example:1"])
        #expect(try setting.proxy(for: CurlURL("http://a.example/")) == .none)
        #expect(try setting.proxy(for: CurlURL("https://a.example/")) == .none)
    }

    @Test("The sentence about skipped exceptions says that the proxy can read plain http, if there is one for http")
    func skippedExceptions() throws {
        let list = ["no_proxy": "10.*,b.example"]
        for (variables, isForPlain) in [
            (["all_proxy": "http://p.example:1"], true), (["http_proxy": "http://p.example:1"], true),
            (["https_proxy": "http://p.example:1"], false),
            (["https_proxy": "http://p.example:1", "http_proxy": "https://p.example:1"], false),
        ] {
            let setting = ProxySetting(.ephemeral, environment: variables.merging(list) { $1 })
            let skipped = try #require(setting.skipped)
            #expect(skipped.contains("\"10.*\"") && skipped.contains("plain http") == isForPlain)
            #expect(ProxySetting(.ephemeral, environment: variables).skipped == nil)
        }
        let direct = URLSessionConfiguration.ephemeral
        direct.connectionProxyDictionary = [:]
        let environment = list.merging(["all_proxy": "http://p.example:1"]) { $1 }
        #expect(ProxySetting(direct, environment: environment).skipped == nil)
        #expect(ProxySetting(.ephemeral, environment: list).skipped == nil)
    }

    @Test("An https:// proxy in the environment refuses requests of its scheme only")
    func separateSchemes() throws {
        let schemes = ["http", "https"]
        for (bad, good) in zip(schemes, schemes.reversed()) {
            let setting = ProxySetting(
                .ephemeral,
                environment: ["\(bad)_proxy": "https://p.example:1", "\(good)_proxy": "http://p.example:1"])
            let error = refusal { try setting.proxy(for: CurlURL("\(bad)://a.example/")) }
            #expect(error?.message.contains("\(bad)_proxy names an https:// proxy") == true)
            let endpoint = try ServerEndpoint(host: "p.example", port: 1)
            #expect(try setting.proxy(for: CurlURL("\(good)://a.example/")) == .http(endpoint))
        }
    }

    @Test("Exceptions in a proxy dictionary are refused by name; empty ones change nothing")
    func exceptions() throws {
        let base: [AnyHashable: Any] = ["HTTPSProxy": "p.example", "HTTPSPort": 1]
        func with(_ key: String, _ value: Any) -> [AnyHashable: Any] { base.merging([key: value]) { $1 } }
        for (key, bad, good) in [
            ("ExceptionsList", [["a.example"], NSArray(object: "*.local"), "a.example"], [[String](), NSArray()]),
            ("ExcludeSimpleHostnames", [1, true, NSNumber(value: 1), "1"], [0, false, NSNumber(value: 0)]),
        ] as [(String, [Any], [Any])] {
            for value in bad {
                let error = refusal { try proxy(with(key, value)) }
                #expect(error?.message.contains("\(key) ") == true)
                #expect(try proxy([key: value]) == .none, "without a proxy it changes nothing")
            }
            for value in good {
                #expect(try proxy(with(key, value)) == .http(ServerEndpoint(host: "p.example", port: 1)))
            }
        }
    }

    @Test(
        "A session whose proxy dictionary has exceptions opens no connection; without them it uses the proxy",
        arguments: [true, false])
    func exceptionsOfSession(areEmpty: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let proxy = try LoopbackProxy(.httpConnect)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = [
            "HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port), "ExceptionsList": areEmpty ? [] : ["localhost"],
        ]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        if areEmpty {
            #expect(try await session.data(from: try server.address()).0.count == 3)
            #expect(proxy.connections.count == 1)
        } else {
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error?.refusal == .unsupportedProxy)
            #expect(proxy.connections.isEmpty && server.connectionCount == 0)
        }
    }

    @Test("A user name with a colon is refused for an HTTP proxy (RFC 7617), and sent to a SOCKS proxy")
    func colon() throws {
        let endpoint = try ServerEndpoint(host: "p.example", port: 1)
        for scheme in ["http", "https"] {
            let kind = scheme.uppercased()
            func with(_ user: String, _ kind: String) throws -> ProxyConfiguration {
                try proxy(
                    [
                        "\(kind)Proxy": "p.example", "\(kind)Port": 1, "kCFProxyUsernameKey": user,
                        "kCFProxyPasswordKey": "secret:1",
                    ], for: "\(scheme)://a.example/")
            }
            let error = refusal { try with("me:you", kind) }
            #expect(error?.message.contains("kCFProxyUsernameKey") == true)
            #expect("\(String(describing: error))".contains("secret") == false)
            let credentials = ProxyCredentials(user: "me", password: "secret:1")
            #expect(try with("me", kind) == .http(endpoint, credentials))
            let other = ProxyCredentials(user: "me:you", password: "secret:1")
            #expect(try with("me:you", "SOCKS") == .socks5(endpoint, other))
        }
    }
}
