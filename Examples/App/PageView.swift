import ClientModel
import Foundation
import PintleURLSession
import SwiftUI
import WebKit

/// A page in a web view that decides as requests do.
struct PageView: UIViewRepresentable {
    @ObservedObject var model: Model

    func makeCoordinator() -> Coordinator { Coordinator() }

    func makeUIView(context: Context) -> WKWebView {
        let webView = WKWebView()
        if let client = model.client {
            context.coordinator.trust = WebViewTrustDelegate(client.source, forwardingTo: context.coordinator)
            webView.navigationDelegate = context.coordinator.trust
        }
        context.coordinator.model = model
        if let url = URL(string: model.address) { webView.load(URLRequest(url: url)) }
        return webView
    }

    func updateUIView(_ webView: WKWebView, context: Context) {}

    /// Keeps the trust delegate, which a web view does not.
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
