// Pinning on Apple's systems without a pinned session.

// Compiled on Apple's systems, and on Linux by `make test-apple`, with stand-ins for their modules.
#if canImport(PintleApple) && canImport(WebKit)
import Foundation
import Network
import PintleURLSession
import Security
import WebKit
import os

func ownSession(_ policy: PinningPolicy, _ mine: any URLSessionDelegate) -> URLSession {
    // snippet.delegate
    let logger = Logger(subsystem: "com.example.app", category: "trust")
    let configuration = URLSessionConfiguration.default
    configuration.protocolClasses = []
    configuration.urlCache = nil
    let delegate = PinningSessionDelegate(policy, forwardingTo: mine, observer: { logger.log($0) })
    let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    // snippet.end
    return session
}

/// Stores files, and forwards the authentication challenges of a download.
@MainActor
final class Downloader: NSObject, WKDownloadDelegate {
    private let trust: WebViewTrustDelegate

    init(_ trust: WebViewTrustDelegate) {
        self.trust = trust
    }

    func download(
        _ download: WKDownload, decideDestinationUsing response: URLResponse, suggestedFilename: String,
        completionHandler: @escaping @MainActor @Sendable (URL?) -> Void
    ) {
        completionHandler(FileManager.default.temporaryDirectory.appendingPathComponent(suggestedFilename))
    }

    func download(
        _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @MainActor @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // snippet.download
        trust.download(download, didReceive: challenge, completionHandler: completionHandler)
        // snippet.end
    }
}

func connectionOptions(_ policy: LivePolicy) throws -> NWProtocolTLS.Options {
    // snippet.network
    let options = NWProtocolTLS.Options()
    options.decideTrust(of: ServerEndpoint(host: try ServerName("example.com")), by: policy)
    // snippet.end
    return options
}

/// Opens the windows of a page.
@MainActor
final class Windows: NSObject, WKUIDelegate {
    private let trust: WebViewTrustDelegate

    init(_ trust: WebViewTrustDelegate) {
        self.trust = trust
    }

    func webView(
        _ webView: WKWebView, createWebViewWith configuration: WKWebViewConfiguration,
        for navigationAction: WKNavigationAction, windowFeatures: WKWindowFeatures
    ) -> WKWebView? {
        let window = WKWebView(frame: .zero, configuration: configuration)
        window.navigationDelegate = trust
        return window
    }
}

@available(iOS 26, macOS 26, visionOS 26, *)
struct PageDecider: WebPage.NavigationDeciding {
    let evaluator: ServerTrustEvaluator

    func decideAuthenticationChallengeDisposition(
        for challenge: URLAuthenticationChallenge
    ) async -> (URLSession.AuthChallengeDisposition, URLCredential?) {
        // snippet.webPage
        let answer = await evaluator.evaluate(challenge)
        return (answer.disposition, answer.credential)
        // snippet.end
    }
}

@available(iOS 26, macOS 26, visionOS 26, *)
@MainActor
func page(_ evaluator: ServerTrustEvaluator) -> WebPage {
    WebPage(navigationDecider: PageDecider(evaluator: evaluator))
}

@available(iOS 26, macOS 26, visionOS 26, *)
func connection(_ server: ServerEndpoint, _ evaluator: ServerTrustEvaluator) -> NetworkConnection<TLS> {
    // snippet.connection
    let connection = NetworkConnection(to: .hostPort(host: "example.com", port: 443)) {
        TLS().ticketsEnabled(false).certificateValidator { _, reference in
            let trust = sec_trust_copy_ref(reference).takeRetainedValue()
            return await evaluator.evaluate(server, trust, at: Date()).decision.isTrusted
        }
    }
    // snippet.end
    return connection
}
#endif
