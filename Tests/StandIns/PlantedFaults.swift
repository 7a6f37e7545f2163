// Faults that Apple's compiler finds, and that no build over the stand-ins finds. `Scripts/apple_facts.py` has to find
// the fault in each line that ends in "newer" or "refused", with this text, and none in any other line.
import Foundation
import Security

#if !os(tvOS) && !os(watchOS)
import WebKit
#endif

// MARK: API that a supported system lacks

func earlyData(_ configuration: URLSessionConfiguration) {
    configuration.enablesEarlyData = true  // newer: 'enablesEarlyData' is only available in
    if #available(iOS 26, macOS 26, tvOS 26, watchOS 26, visionOS 26, *) { configuration.enablesEarlyData = true }
    if #available(iOS 26, macOS 13, tvOS 26, watchOS 26, visionOS 26, *) {
        configuration.enablesEarlyData = true  // newer on macOS: 'enablesEarlyData' is only available in macOS 26
    }
}

func newMethod(_ delegate: any URLSessionTaskDelegate, _ session: URLSession, _ task: URLSessionTask) {
    typealias Method = (URLSession, URLSessionTask) -> Void
    let early: Method? = delegate.urlSession(_:didCreateTask:)  // newer on iOS, macOS, tvOS, watchOS: only available in
    early?(session, task)
    if #available(iOS 16, macOS 13, tvOS 16, watchOS 9, *) {
        let late: Method? = delegate.urlSession(_:didCreateTask:)
        late?(session, task)
    }
}

func standardLibrary(_ bytes: [UInt8]) -> UInt8? {
    let first = bytes.span[0]  // newer: 'span' is only available in
    return bytes.first ?? first
}

// MARK: Optional methods

func optionalMethods(_ delegate: any URLSessionTaskDelegate, _ session: URLSession, _ task: URLSessionTask) {
    delegate.urlSession(session, task: task, didCompleteWithError: nil)  // refused: must be unwrapped
    let tell: ((URLSession, URLSessionTask, (any Error)?) -> Void)? = delegate.urlSession(_:task:didCompleteWithError:)
    tell?(session, task, nil)
}

func requiredMethod(_ delegate: any URLSessionDownloadDelegate, _ session: URLSession, _ task: URLSessionDownloadTask) {
    delegate.urlSession(session, downloadTask: task, didFinishDownloadingTo: URL(fileURLWithPath: "/"))
}

#if !os(tvOS) && !os(watchOS)
@MainActor func optionalMethod(_ delegate: any WKNavigationDelegate, _ webView: WKWebView) {
    delegate.webViewWebContentProcessDidTerminate(webView)  // refused: must be unwrapped
    let tell: ((WKWebView) -> Void)? = delegate.webViewWebContentProcessDidTerminate(_:)
    tell?(webView)
}
#endif

// MARK: Types of Core Foundation

func casts(_ der: Data, _ certificates: [SecCertificate], _ trust: SecTrust, _ instant: Date, _ query: [CFString: Any])
{
    _ = SecCertificateCreateWithData(nil, der)  // refused: argument type 'Data' does not conform
    _ = SecCertificateCreateWithData(nil, der as CFData)
    _ = SecPolicyCreateSSL(true, "\(der)")  // refused: argument type 'String' does not conform
    _ = SecPolicyCreateSSL(true, "\(der)" as CFString)
    _ = SecTrustSetAnchorCertificates(trust, certificates)  // refused: '[SecCertificate]' does not conform
    _ = SecTrustSetAnchorCertificates(trust, certificates as CFArray)
    _ = SecTrustSetVerifyDate(trust, instant)  // refused: argument type 'Date' does not conform
    _ = SecTrustSetVerifyDate(trust, instant as CFDate)
    _ = SecItemDelete(query)  // refused: does not conform
    _ = SecItemDelete(query as CFDictionary)
    let implicit: String = SecCopyErrorMessageString(0, nil) ?? ""  // refused: not implicitly convertible to 'String'
    let explicit = SecCopyErrorMessageString(0, nil) as String? ?? implicit
    _ = explicit
}

// MARK: Methods that are not forwarded

/// A delegate that forwards one method. It has another one without a call of the app's delegate, and lacks all others.
final class PlantedDelegate: NSObject, URLSessionTaskDelegate {
    private let other: any URLSessionTaskDelegate

    init(_ other: any URLSessionTaskDelegate) {
        self.other = other
    }

    // forwarded: URLSession:taskIsWaitingForConnectivity:
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        let tell: ((URLSession, URLSessionTask) -> Void)? = other.urlSession(_:taskIsWaitingForConnectivity:)
        tell?(session, task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {}
}
