// Pinning on Apple's systems without a pinned session.

// Compiled on Apple's systems, and on Linux by `make test-apple`, with stand-ins for their modules.
#if canImport(PintleApple) && canImport(WebKit)
import Foundation
import Network
import PintleURLSession
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

/// The app's own session delegate.
final class Delegate: NSObject, URLSessionDelegate {
    private let evaluator: ServerTrustEvaluator

    init(_ policy: PinningPolicy) {
        evaluator = ServerTrustEvaluator(policy: policy)
    }

    // snippet.challenge
    func urlSession(
        _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let answer = evaluator.evaluate(challenge)
        if let rejection = answer.rejection { note(rejection) }
        completionHandler(answer.disposition, answer.credential)
    }
    // snippet.end

    private func note(_ rejection: TrustRejection) { print(rejection) }
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

    // snippet.download
    func download(
        _ download: WKDownload, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @MainActor @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        trust.download(download, didReceive: challenge, completionHandler: completionHandler)
    }
    // snippet.end
}

func connectionOptions(_ policy: LivePolicy) throws -> NWProtocolTLS.Options {
    // snippet.network
    let options = NWProtocolTLS.Options()
    options.decideTrust(of: ServerEndpoint(host: try ServerName("example.com")), by: policy)
    // snippet.end
    return options
}
#endif
