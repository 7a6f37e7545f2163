import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Testing
import WebKit

/// Pages over plain HTTP, where no certificate shows whose server it is.
@Suite("Apple: plain http in web views", .timeLimit(.minutes(1)))
@MainActor
struct WebViewPlainHTTPTests {
    private static func isPlain(_ error: (any Error)?) -> Bool {
        (error as? URLError)?.code == .appTransportSecurityRequiresSecureConnection
    }

    /// Policies that cancel a page over http from localhost, and one that lets it load.
    private static func policies() throws -> [(policy: PinningPolicy, isAllowed: Bool)] {
        let fixture = try SessionFixture()
        return [
            (try fixture.policy(), false), (try PinningPolicy(hosts: [], unpinnedHosts: .reject), false),
            (try PinningPolicy(hosts: [], unpinnedHosts: .askUser), false),
            (try fixture.policy(host: "example.com"), true),
        ]
    }

    @Test("A page over http from a covered host is cancelled with its reason; one from another host loads")
    func plainHTTP() async throws {
        for (policy, isAllowed) in try Self.policies() {
            let plain = try LoopbackTCPServer.http()
            let url = try #require(URL(string: "HTTP://localhost:\(plain.port)/"))
            let navigation = Navigation()
            let error = try await navigation.load(url, WebViewTrustDelegate(policy, forwardingTo: navigation))
            #expect((error as? URLError)?.code == (isAllowed ? nil : .appTransportSecurityRequiresSecureConnection))
            #expect((error as? URLError)?.failingURL == (isAllowed ? nil : url))
            let loaded = ["action", "start", "response", "commit", "finish"]
            #expect(navigation.events == (isAllowed ? loaded : ["failure"]))
            #expect(plain.connectionCount == (isAllowed ? 1 : 0))
        }
    }

    @Test("A page over http is cancelled if the policy starts to cover its host while the delegate decides")
    func plainHTTPMeanwhile() async throws {
        for (next, isAllowed) in try Self.policies() {
            let plain = try LoopbackTCPServer.http()
            let url = try #require(URL(string: "http://localhost:\(plain.port)/"))
            let policy = LivePolicy(try PinningPolicy(hosts: []))
            let navigation = Navigation { if $0 == "action" { policy.replace(with: next) } }
            let error = try await navigation.load(url, WebViewTrustDelegate(policy, forwardingTo: navigation))
            #expect((error as? URLError)?.code == (isAllowed ? nil : .appTransportSecurityRequiresSecureConnection))
            #expect(navigation.events.first == "action" && plain.connectionCount == (isAllowed ? 1 : 0))
        }
    }

    @Test("A frame or a download over http from a covered host is cancelled too, and the page continues")
    func plainFrames() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try fixture.policy(), forwardingTo: navigation)
        let cases = [
            ("http://localhost/", false), ("http://0.0.0.0/", false), ("https://localhost/", true),
            ("http://example.com/", true), ("about:blank", true),
        ].map { (url: URL(string: $0), isAllowed: $1) }
        let urls = try cases.map { try #require($0.url) }
        var answers: [WKNavigationActionPolicy] = []
        // The frame and the download begin while the page loads.
        navigation.onEvent = { event in
            guard event == "start" else { return }
            for url in urls {
                for isDownload in [false, true] {
                    let action = WKNavigationAction.asked(
                        URLRequest(url: url), shouldPerformDownload: isDownload, isMainFrame: false)
                    trust.webView(navigation.webView, decidePolicyFor: action, preferences: WKWebpagePreferences()) {
                        policy, _ in answers.append(policy)
                    }
                }
            }
        }
        #expect(try await navigation.load(server.address(), trust) == nil)
        let expected = cases.flatMap {
            Array(repeating: $0.isAllowed ? WKNavigationActionPolicy.allow : .cancel, count: 2)
        }
        #expect(answers == expected)
        #expect(navigation.webView.document != nil && navigation.failures.isEmpty)
    }

    @Test("A page over http from an alias of an address fails for that reason")
    func plainAlias() async throws {
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try PinningPolicy(hosts: []), forwardingTo: navigation)
        let error = try await navigation.load(try #require(URL(string: "http://0.0.0.0/")), trust)
        #expect((error as? URLError)?.code == .badURL && navigation.events == ["failure"])
    }

    @Test("A page over http is refused on arrival if the policy covers its host only after the request was allowed")
    func arrival() async throws {
        for (next, isAllowed) in try Self.policies() {
            let policy = LivePolicy(try PinningPolicy(hosts: []))
            let plain = try LoopbackTCPServer.http { _ in
                policy.replace(with: next)
                return .ok
            }
            let url = try #require(URL(string: "http://localhost:\(plain.port)/"))
            let navigation = Navigation()
            let error = try await navigation.load(url, WebViewTrustDelegate(policy, forwardingTo: navigation))
            #expect(Self.isPlain(error) == !isAllowed)
            #expect((error as? URLError)?.failingURL == (isAllowed ? nil : url))
            let loaded = ["action", "start", "response", "commit", "finish"]
            #expect(navigation.events == (isAllowed ? loaded : ["action", "start", "failure"]))
            #expect((navigation.webView.document == nil) == !isAllowed)
            #expect(navigation.failuresHaveNavigations)
        }
    }

    @Test("A response over http is refused if the policy starts to cover its host while the delegate decides")
    func arrivalMeanwhile() async throws {
        for answer in [WKNavigationResponsePolicy.allow, .download] {
            for (next, isAllowed) in try Self.policies() {
                let plain = try LoopbackTCPServer.http()
                let url = try #require(URL(string: "http://localhost:\(plain.port)/"))
                let policy = LivePolicy(try PinningPolicy(hosts: []))
                let navigation = Navigation { if $0 == "response" { policy.replace(with: next) } }
                navigation.answerToResponse = answer
                let error = try await navigation.load(url, WebViewTrustDelegate(policy, forwardingTo: navigation))
                #expect(Self.isPlain(error) == !isAllowed)
                let ends =
                    switch (isAllowed, answer) {
                    case (false, _): ["failure"]
                    case (true, .download): ["download", "failure"]
                    case (true, _): ["commit", "finish"]
                    }
                #expect(navigation.events == ["action", "start", "response"] + ends)
            }
        }
    }

    @Test("A frame's response over http from a host that is now covered is cancelled without failing the page")
    func frameArrival() throws {
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try SessionFixture().policy(), forwardingTo: navigation)
        for (text, isAllowed) in [("http://localhost/", false), ("http://example.com/", true)] {
            let response = URLResponse(
                url: try #require(URL(string: text)), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
            var answers: [WKNavigationResponsePolicy] = []
            trust.webView(navigation.webView, decidePolicyFor: .arrived(response, isForMainFrame: false)) {
                answers.append($0)
            }
            #expect(answers == [isAllowed ? .allow : .cancel])
        }
        #expect(navigation.failures.isEmpty)
    }

    @Test("A refusal is final even if the policy changes at once, because the app's delegate was not asked")
    func changeAfterRefusal() throws {
        let request = URLRequest(url: try #require(URL(string: "http://localhost/")))
        let response = URLResponse(
            url: try #require(request.url), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        for (first, isAllowed) in try Self.policies() {
            for isAction in [true, false] {
                let source = ChangingPolicy(first, then: try PinningPolicy(hosts: []))
                let navigation = Navigation()
                let trust = WebViewTrustDelegate(source, forwardingTo: navigation)
                var answers: [Bool] = []
                if isAction {
                    trust.webView(
                        navigation.webView, decidePolicyFor: .asked(request), preferences: WKWebpagePreferences()
                    ) { policy, _ in answers.append(policy == .allow) }
                } else {
                    trust.webView(navigation.webView, decidePolicyFor: .arrived(response, isForMainFrame: true)) {
                        answers.append($0 == .allow)
                    }
                }
                #expect(answers == [isAllowed])
                #expect(navigation.events == [isAllowed ? (isAction ? "action" : "response") : "failure"])
                #expect(Self.isPlain(navigation.failures.first?.error) == !isAllowed)
            }
        }
    }

    @Test("An action or a response is checked even if the app releases this delegate while its own decides")
    func released() throws {
        let request = URLRequest(url: try #require(URL(string: "http://localhost/")))
        let response = URLResponse(
            url: try #require(request.url), mimeType: nil, expectedContentLength: 0, textEncodingName: nil)
        for (next, isAllowed) in try Self.policies() {
            let policy = LivePolicy(try PinningPolicy(hosts: []))
            let later = LateDelegate()
            var trust: WebViewTrustDelegate? = WebViewTrustDelegate(policy, forwardingTo: later)
            weak let released = trust
            var (actions, responses): ([WKNavigationActionPolicy], [WKNavigationResponsePolicy]) = ([], [])
            trust?.webView(WKWebView(), decidePolicyFor: .asked(request), preferences: WKWebpagePreferences()) {
                policy, _ in actions.append(policy)
            }
            trust?.webView(WKWebView(), decidePolicyFor: .arrived(response, isForMainFrame: true)) {
                responses.append($0)
            }
            trust = nil
            #expect(released == nil && actions.isEmpty && responses.isEmpty)
            policy.replace(with: next)
            later.allow()
            #expect(actions == [isAllowed ? .allow : .cancel] && responses == [isAllowed ? .allow : .cancel])
        }
    }

    @Test("A page's redirect to http of a covered host fails once, with its navigation and reason; one to https loads")
    func redirect() async throws {
        let fixture = try SessionFixture()
        let plain = try LoopbackTCPServer.http()
        let target = "http://localhost:\(plain.port)/"
        let bad = Navigation()
        let refusing = try fixture.server { _ in .redirect(to: target) }
        let error = try await bad.load(
            refusing.address(), WebViewTrustDelegate(try fixture.policy(), forwardingTo: bad))
        #expect(Self.isPlain(error) && (error as? URLError)?.failingURL?.absoluteString == target)
        #expect(bad.events == ["action", "start", "failure"] && bad.failuresHaveNavigations)
        #expect(plain.connectionCount == 0)

        let good = Navigation()
        let server = try fixture.server { $0.target == "/end" ? .ok : .redirect(to: "/end") }
        let trust = WebViewTrustDelegate(try fixture.policy(), forwardingTo: good)
        #expect(try await good.load(server.address(), trust) == nil)
        #expect(good.events == ["action", "start", "action", "redirect", "response", "commit", "finish"])
    }

    @Test("A redirect that the app's delegate cancels keeps WebKit's own error")
    func ownCancellation() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server { $0.target == "/end" ? .ok : .redirect(to: "/end") }
        let navigation = Navigation()
        navigation.answersToActions = [.allow, .cancel]
        let error = try await navigation.load(
            server.address(), WebViewTrustDelegate(try fixture.policy(), forwardingTo: navigation))
        let found = try #require(error) as NSError
        #expect(found.domain == "WebKitErrorDomain" && found.code == 102)
        #expect(navigation.events == ["action", "start", "action", "failure"])
    }

    @Test(
        "The delegate gets the error of a link cancelled during a load once, after the load",
        arguments: [true, false])
    func linkMeanwhile(rightPin: Bool) async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let link = URLRequest(url: try #require(URL(string: "http://localhost/")))
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try fixture.policy(rightPin: rightPin), forwardingTo: navigation)
        var answers: [WKNavigationActionPolicy] = []
        navigation.onEvent = { event in
            guard event == "start" else { return }
            trust.webView(navigation.webView, decidePolicyFor: .asked(link), preferences: WKWebpagePreferences()) {
                policy, _ in answers.append(policy)
            }
        }
        let first = try await navigation.load(server.address(), trust)
        #expect(answers == [.cancel])
        let refusal = try #require(navigation.failures.last)
        #expect(Self.isPlain(refusal.error) && !refusal.hasNavigation)
        if rightPin {
            #expect(navigation.events == ["action", "start", "response", "commit", "failure", "finish"])
        } else {
            #expect(first.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
            #expect(navigation.failures.map(\.hasNavigation) == [true, false])
        }
    }

    @Test("The delegate gets a cancelled link's error also if the page's process ends or another load begins")
    func linkAndEnd() throws {
        let link = URLRequest(url: try #require(URL(string: "http://localhost/")))
        for ends in [true, false] {
            let navigation = Navigation()
            let trust = WebViewTrustDelegate(try SessionFixture().policy(), forwardingTo: navigation)
            trust.webView(navigation.webView, didStartProvisionalNavigation: nil)
            trust.webView(navigation.webView, decidePolicyFor: .asked(link), preferences: WKWebpagePreferences()) {
                policy, _ in #expect(policy == .cancel)
            }
            #expect(navigation.failures.isEmpty)
            if ends {
                trust.webViewWebContentProcessDidTerminate(navigation.webView)
            } else {
                trust.webView(navigation.webView, didStartProvisionalNavigation: nil)
            }
            #expect(navigation.events == ["start", "failure", ends ? "terminated" : "start"])
        }
    }

    @Test("A new window over http to a covered host is cancelled with an error at once; another window opens")
    func newWindow() throws {
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try SessionFixture().policy(), forwardingTo: navigation)
        trust.webView(navigation.webView, didStartProvisionalNavigation: nil)
        for (text, isAllowed) in [("http://example.com/", true), ("http://localhost/", false)] {
            let request = URLRequest(url: try #require(URL(string: text)))
            var answers: [WKNavigationActionPolicy] = []
            trust.webView(
                navigation.webView, decidePolicyFor: .asked(request, isMainFrame: nil),
                preferences: WKWebpagePreferences()
            ) { policy, _ in answers.append(policy) }
            #expect(answers == [isAllowed ? .allow : .cancel])
            #expect(navigation.failures.count == (isAllowed ? 0 : 1))
        }
        let failure = try #require(navigation.failures.first)
        #expect(Self.isPlain(failure.error) && !failure.hasNavigation)
    }

    @Test("A page that a covered host redirects from https to http is refused, even after further redirects")
    func insecureRedirect() async throws {
        let fixture = try SessionFixture(isSystem: true)
        let plain = try LoopbackTCPServer.http()
        let server = try fixture.server {
            .redirect(to: $0.target == "/start" ? "/end" : "http://127.0.0.1:\(plain.port)/")
        }
        let hop = try fixture.server { _ in .redirect(to: server.url(host: "localhost") + "/end") }
        for (host, start, isAllowed) in [
            ("localhost", try server.address("/start"), false),
            ("localhost", try hop.address(host: "127.0.0.1"), false),
            ("example.com", try server.address("/start"), true),
        ] {
            let navigation = Navigation()
            let policy = try fixture.policy(host: host, anchors: .system)
            let error = try await navigation.load(start, WebViewTrustDelegate(policy, forwardingTo: navigation))
            #expect(Self.isPlain(error) == !isAllowed)
            let text = (error as? URLError)?.localizedDescription
            #expect(text == (isAllowed ? nil : "the server redirects from https to http"))
            #expect(
                navigation.events.contains("commit") == isAllowed && navigation.failuresHaveNavigations)
        }
    }
}

/// A source whose policy changes after the first look at it.
private final class ChangingPolicy: PolicySource {
    private let policies: Locked<[PinningPolicy]>

    init(_ first: PinningPolicy, then second: PinningPolicy) {
        policies = Locked([first, second])
    }

    var current: PolicySnapshot {
        policies.withLock { policies in
            let generation: UInt64 = policies.count > 1 ? 1 : 2
            return PolicySnapshot(
                policy: policies.count > 1 ? policies.removeFirst() : policies[0], generation: generation)
        }
    }
}

/// A delegate that answers when the test releases it.
@MainActor
private final class LateDelegate: NSObject, WKNavigationDelegate {
    private var answers: [@MainActor () -> Void] = []

    func allow() { for answer in answers { answer() } }

    func webView(
        _ webView: WKWebView, decidePolicyFor navigationAction: WKNavigationAction,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationActionPolicy) -> Void
    ) {
        answers.append { decisionHandler(.allow) }
    }

    func webView(
        _ webView: WKWebView, decidePolicyFor navigationResponse: WKNavigationResponse,
        decisionHandler: @escaping @MainActor @Sendable (WKNavigationResponsePolicy) -> Void
    ) {
        answers.append { decisionHandler(.allow) }
    }
}
