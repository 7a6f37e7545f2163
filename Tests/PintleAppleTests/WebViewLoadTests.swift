import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Testing
import WebKit

/// The loads that a web view's refusals belong to, and the windows of a page.
@Suite("Apple: loads and windows of web views", .timeLimit(.minutes(1)))
@MainActor
struct WebViewLoadTests {
    @Test("A page whose server was refused before the page started fails with the reason; a pinned one loads")
    func connectionAhead() async throws {
        let fixture = try SessionFixture()
        let good = Navigation()
        good.webView.connectsAhead = true
        let server = try fixture.server()
        let trust = WebViewTrustDelegate(try fixture.policy(), forwardingTo: good)
        #expect(try await good.load(server.address(), trust) == nil)
        #expect(good.events == ["action", "start", "response", "commit", "finish"])
        #expect(server.connectionCount == 1 && server.requests.count == 1)

        let bad = Navigation()
        bad.webView.connectsAhead = true
        let interceptor = try fixture.server()
        let strict = WebViewTrustDelegate(try fixture.policy(rightPin: false), forwardingTo: bad)
        let error = try #require(try await bad.load(interceptor.address(), strict))
        #expect(TrustRejection(underlying: error)?.reason == "pin-mismatch")
        #expect(bad.events == ["action", "start", "failure"])
        #expect(interceptor.connectionCount == 1 && interceptor.requestByteCount == 0)
    }

    @Test("A page over a connection made ahead gets no request if its delegate refuses the page")
    func refusedAhead() async throws {
        let fixture = try SessionFixture()
        let server = try fixture.server()
        let navigation = Navigation()
        navigation.webView.connectsAhead = true
        navigation.answersToActions = [.cancel]
        let actions = AsyncStream<String>.makeStream()
        navigation.onEvent = { actions.continuation.yield($0) }
        let trust = WebViewTrustDelegate(try fixture.policy(), forwardingTo: navigation)
        navigation.webView.navigationDelegate = trust
        navigation.webView.load(URLRequest(url: try server.address()))
        for await _ in actions.stream { break }
        #expect(await server.isClosed())
        #expect(server.requestByteCount == 0 && navigation.events == ["action"])
    }

    @Test("A refusal explains the load that it came in or before, and no later one")
    func marks() async throws {
        let fixture = try SessionFixture()
        let url = try #require(URL(string: "https://localhost/"))
        let cancelled = URLError(.cancelled, userInfo: [NSURLErrorFailingURLErrorKey: url])
        let navigation = Navigation()
        let trust = WebViewTrustDelegate(try fixture.policy(rightPin: false), forwardingTo: navigation)
        let (first, second) = (WKWebView(), WKWebView())
        /// Refuses a server that a web view asks about.
        func refuse(in webView: WKWebView) async throws {
            let challenge = try SessionFixture.challenge(fixture.identity.chain)
            await withCheckedContinuation { continuation in
                trust.webView(webView, didReceive: challenge) { disposition, _ in
                    #expect(disposition == .cancelAuthenticationChallenge)
                    continuation.resume()
                }
            }
        }
        /// Ends the load of a web view as the system does after a refusal, or if the user stops it.
        func fail(_ webView: WKWebView) -> String? {
            trust.webView(webView, didFailProvisionalNavigation: nil, withError: cancelled)
            return navigation.failures.last.flatMap { TrustRejection(underlying: $0.error)?.reason }
        }
        // Before the page's start, and while it loads.
        for isEarly in [true, false] {
            if isEarly { try await refuse(in: first) }
            trust.webView(first, didStartProvisionalNavigation: nil)
            if !isEarly { try await refuse(in: first) }
            // Another window begins a page of its own in between.
            trust.webView(second, didStartProvisionalNavigation: nil)
            #expect(fail(first) == "pin-mismatch")
            // The user stops the next load before any server is asked.
            trust.webView(first, didStartProvisionalNavigation: nil)
            #expect(fail(first) == nil)
            // Neither refusal was of a server that the second view asked about.
            #expect(fail(second) == nil)
        }
        // A load that ends well ends too.
        try await refuse(in: first)
        trust.webView(first, didStartProvisionalNavigation: nil)
        trust.webView(first, didFinish: nil)
        trust.webView(first, didStartProvisionalNavigation: nil)
        #expect(fail(first) == nil)
    }

    @Test("A window that a page opens is judged if it has the page's delegate, and by the system if it has none")
    func windows() async throws {
        let fixture = try SessionFixture(isSystem: true)
        for (rightPin, isGiven, isLoaded) in [(true, true, true), (false, true, false), (false, false, true)] {
            let server = try fixture.server()
            let navigation = Navigation()
            let trust = WebViewTrustDelegate(
                try fixture.policy(rightPin: rightPin, anchors: .system), forwardingTo: navigation)
            let opener = WindowOpener(isGiven ? trust : nil)
            navigation.webView.navigationDelegate = trust
            navigation.webView.uiDelegate = opener
            let window = await navigation.webView.openWindow(URLRequest(url: try server.address()))
            #expect((window?.document != nil) == isLoaded)
            #expect((server.requestByteCount == 0) == !isLoaded)
            let reason = navigation.failures.last.flatMap { TrustRejection(underlying: $0.error)?.reason }
            #expect(reason == (isLoaded ? nil : "pin-mismatch"))
        }
    }

    @Test("The limit of reloads after a process ended is one of each web view")
    func reloads() throws {
        let trust = WebViewTrustDelegate(try SessionFixture().policy())
        for webView in [WKWebView(), WKWebView()] {
            for _ in 0..<3 { trust.webViewWebContentProcessDidTerminate(webView) }
            #expect(webView.reloadCount == 1)
        }
    }
}

/// Opens the windows of a page, with the navigation delegate that they need.
@MainActor
private final class WindowOpener: NSObject, WKUIDelegate {
    private let trust: WebViewTrustDelegate?
    private var windows: [WKWebView] = []

    init(_ trust: WebViewTrustDelegate?) {
        self.trust = trust
    }

    func webView(
        _ webView: WKWebView, createWebViewWith configuration: WKWebViewConfiguration,
        for navigationAction: WKNavigationAction, windowFeatures: WKWindowFeatures
    ) -> WKWebView? {
        let window = WKWebView(frame: .zero, configuration: configuration)
        window.navigationDelegate = trust
        windows.append(window)
        return window
    }
}

extension LoopbackTLSServer {
    /// Waits until the connection has ended, on a thread of its own: the web view needs the main thread for it, and may
    /// need every thread of the tasks.
    fileprivate func isClosed() async -> Bool {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.waitUntilClosed()) }
        }
    }
}
