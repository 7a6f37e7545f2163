import ClientModel
import Foundation
import PintleURLSession
import SwiftUI
import WebKit

/// A web view that makes the same trust decisions as requests.
struct PageView: UIViewRepresentable {
    @ObservedObject var model: Model

    func makeCoordinator() -> Coordinator { Coordinator() }

    func makeUIView(context: Context) -> WKWebView {
        let webView = WKWebView()
        // Without a policy the view loads nothing.
        guard let client = model.client else { return webView }
        context.coordinator.trust = WebViewTrustDelegate(client.source, forwardingTo: context.coordinator)
        webView.navigationDelegate = context.coordinator.trust
        context.coordinator.model = model
        if let url = URL(string: model.address) { webView.load(URLRequest(url: url)) }
        return webView
    }

    func updateUIView(_ webView: WKWebView, context: Context) {}

    /// Retains the trust delegate, because a web view does not.
    @MainActor
    final class Coordinator: NSObject, WKNavigationDelegate {
        var trust: WebViewTrustDelegate?
        weak var model: Model?

        func webView(
            _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error
        ) {
            switch TrustRejection(underlying: error) {
            case let rejection?: model?.text = rejection.description
            case nil: model?.text = error.localizedDescription
            }
        }
    }
}
