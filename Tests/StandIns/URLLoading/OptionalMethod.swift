public import Foundation

/// The name of a method in Objective-C, which Linux does not have.
public struct Selector: Hashable, Sendable {
    let name: String

    public init(_ name: String) {
        self.name = name
    }
}

public func NSStringFromSelector(_ aSelector: Selector) -> String { aSelector.name }

/// Returns a class of a module that the source need not import. Foundation's function for Linux finds only Swift's
/// names.
public func NSClassFromString(_ aClassName: String) -> AnyClass? {
    switch aClassName {
    case "AVAssetDownloadTask": AVAssetDownloadTask.self
    case "AVAggregateAssetDownloadTask": AVAggregateAssetDownloadTask.self
    default: nil
    }
}

/// A delegate that answers by itself which methods it has, as a class does on Apple's systems that overrides
/// `responds(to:)`. Nothing can override that method here, because Foundation's `NSObject` does not have it.
package protocol SelectorAnswering {
    /// Returns `nil` if the methods of the class are the answer.
    func answer(to aSelector: Selector) -> Bool?
}

extension NSObjectProtocol {
    /// Returns `true` if the delegate has a method of a delegate protocol. The default implementations of the protocols
    /// do not count, because Apple's protocols have none.
    public func responds(to aSelector: Selector!) -> Bool {
        guard let aSelector else { return false }
        if let answer = (self as? any SelectorAnswering)?.answer(to: aSelector) { return answer }
        return OptionalMethod.all.contains { $0.selector == aSelector && $0.isImplemented(by: type(of: self)) }
    }

    /// Returns `true` if the delegate has a method, for callers that know its name in Swift.
    ///
    /// - Parameters:
    ///   - name: The name with its labels, such as `urlSession(_:didCreateTask:)`.
    ///   - kind: The type of the method, which tells methods of one name apart.
    package func hasMethod(_ name: String, _ kind: Any.Type) -> Bool {
        let types = String(reflecting: kind)
        guard let method = OptionalMethod.all.first(where: { $0.name == name && $0.takes(types) }) else {
            preconditionFailure("the table of optional methods has no row for \(name)")
        }
        return responds(to: method.selector)
    }
}

/// A method that a delegate may lack: its names in Objective-C and in Swift.
struct OptionalMethod: Sendable {
    let selector: Selector
    let name: String
    /// A type among the parameters, for methods that have the same name.
    let parameter: String?

    private init(_ selector: String, _ name: String, taking parameter: String? = nil) {
        (self.selector, self.name, self.parameter) = (Selector(selector), name, parameter)
    }

    /// - Parameter text: The types of the parameters, as Swift prints them.
    func takes(_ text: String) -> Bool {
        parameter.map { text.contains(".\($0),") || text.contains(".\($0))") } ?? true
    }

    /// Returns `true` if a class, or a class that it inherits from, implements the method.
    func isImplemented(by kind: Any.Type) -> Bool {
        var next: AnyClass? = kind as? AnyClass
        while let kind = next, kind != NSObject.self {
            if ProgramSymbols.methods(of: kind).contains(where: { $0.name == name && takes($0.text) }) { return true }
            next = _getSuperclass(kind)
        }
        return false
    }

    static let all: [OptionalMethod] = session + task + data + download + webSocket + navigation + webDownload

    private static let session = [
        OptionalMethod("URLSession:didBecomeInvalidWithError:", "urlSession(_:didBecomeInvalidWithError:)"),
        OptionalMethod(
            "URLSession:didReceiveChallenge:completionHandler:", "urlSession(_:didReceive:completionHandler:)"),
        OptionalMethod(
            "URLSessionDidFinishEventsForBackgroundURLSession:",
            "urlSessionDidFinishEvents(forBackgroundURLSession:)"),
    ]
    private static let task = [
        OptionalMethod("URLSession:didCreateTask:", "urlSession(_:didCreateTask:)"),
        OptionalMethod(
            "URLSession:task:willBeginDelayedRequest:completionHandler:",
            "urlSession(_:task:willBeginDelayedRequest:completionHandler:)"),
        OptionalMethod("URLSession:taskIsWaitingForConnectivity:", "urlSession(_:taskIsWaitingForConnectivity:)"),
        OptionalMethod(
            "URLSession:task:willPerformHTTPRedirection:newRequest:completionHandler:",
            "urlSession(_:task:willPerformHTTPRedirection:newRequest:completionHandler:)"),
        OptionalMethod(
            "URLSession:task:didReceiveChallenge:completionHandler:",
            "urlSession(_:task:didReceive:completionHandler:)"),
        OptionalMethod("URLSession:task:needNewBodyStream:", "urlSession(_:task:needNewBodyStream:)"),
        OptionalMethod(
            "URLSession:task:needNewBodyStreamFromOffset:completionHandler:",
            "urlSession(_:task:needNewBodyStreamFrom:completionHandler:)"),
        OptionalMethod(
            "URLSession:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:",
            "urlSession(_:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:)"),
        OptionalMethod(
            "URLSession:task:didReceiveInformationalResponse:",
            "urlSession(_:task:didReceiveInformationalResponse:)"),
        OptionalMethod(
            "URLSession:task:didFinishCollectingMetrics:", "urlSession(_:task:didFinishCollecting:)"),
        OptionalMethod("URLSession:task:didCompleteWithError:", "urlSession(_:task:didCompleteWithError:)"),
    ]
    private static let data = [
        OptionalMethod(
            "URLSession:dataTask:didReceiveResponse:completionHandler:",
            "urlSession(_:dataTask:didReceive:completionHandler:)"),
        OptionalMethod(
            "URLSession:dataTask:didBecomeDownloadTask:", "urlSession(_:dataTask:didBecome:)",
            taking: "URLSessionDownloadTask"),
        OptionalMethod(
            "URLSession:dataTask:didBecomeStreamTask:", "urlSession(_:dataTask:didBecome:)",
            taking: "URLSessionStreamTask"),
        OptionalMethod("URLSession:dataTask:didReceiveData:", "urlSession(_:dataTask:didReceive:)"),
        OptionalMethod(
            "URLSession:dataTask:willCacheResponse:completionHandler:",
            "urlSession(_:dataTask:willCacheResponse:completionHandler:)"),
    ]
    private static let download = [
        OptionalMethod(
            "URLSession:downloadTask:didFinishDownloadingToURL:",
            "urlSession(_:downloadTask:didFinishDownloadingTo:)"),
        OptionalMethod(
            "URLSession:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:",
            "urlSession(_:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:)"),
        OptionalMethod(
            "URLSession:downloadTask:didResumeAtOffset:expectedTotalBytes:",
            "urlSession(_:downloadTask:didResumeAtOffset:expectedTotalBytes:)"),
    ]
    private static let webSocket = [
        OptionalMethod(
            "URLSession:webSocketTask:didOpenWithProtocol:", "urlSession(_:webSocketTask:didOpenWithProtocol:)"),
        OptionalMethod(
            "URLSession:webSocketTask:didCloseWithCode:reason:", "urlSession(_:webSocketTask:didCloseWith:reason:)"),
    ]
    private static let navigation = [
        OptionalMethod(
            "webView:decidePolicyForNavigationAction:decisionHandler:",
            "webView(_:decidePolicyFor:decisionHandler:)", taking: "WKNavigationAction"),
        OptionalMethod(
            "webView:decidePolicyForNavigationAction:preferences:decisionHandler:",
            "webView(_:decidePolicyFor:preferences:decisionHandler:)"),
        OptionalMethod(
            "webView:decidePolicyForNavigationResponse:decisionHandler:",
            "webView(_:decidePolicyFor:decisionHandler:)", taking: "WKNavigationResponse"),
        OptionalMethod(
            "webView:didStartProvisionalNavigation:", "webView(_:didStartProvisionalNavigation:)"),
        OptionalMethod(
            "webView:didReceiveServerRedirectForProvisionalNavigation:",
            "webView(_:didReceiveServerRedirectForProvisionalNavigation:)"),
        OptionalMethod(
            "webView:didFailProvisionalNavigation:withError:", "webView(_:didFailProvisionalNavigation:withError:)"),
        OptionalMethod("webView:didCommitNavigation:", "webView(_:didCommit:)"),
        OptionalMethod("webView:didFinishNavigation:", "webView(_:didFinish:)"),
        OptionalMethod("webView:didFailNavigation:withError:", "webView(_:didFail:withError:)"),
        OptionalMethod(
            "webView:didReceiveAuthenticationChallenge:completionHandler:",
            "webView(_:didReceive:completionHandler:)"),
        OptionalMethod(
            "webViewWebContentProcessDidTerminate:", "webViewWebContentProcessDidTerminate(_:)"),
        OptionalMethod(
            "webView:authenticationChallenge:shouldAllowDeprecatedTLS:",
            "webView(_:authenticationChallenge:shouldAllowDeprecatedTLS:)"),
        OptionalMethod(
            "webView:navigationAction:didBecomeDownload:", "webView(_:navigationAction:didBecome:)"),
        OptionalMethod(
            "webView:navigationResponse:didBecomeDownload:", "webView(_:navigationResponse:didBecome:)"),
        OptionalMethod(
            "webView:shouldGoToBackForwardListItem:willUseInstantBack:completionHandler:",
            "webView(_:shouldGoTo:willUseInstantBack:completionHandler:)"),
        OptionalMethod(
            "webView:willSubmitForm:submissionHandler:", "webView(_:willSubmitForm:submissionHandler:)"),
    ]
    private static let webDownload = [
        OptionalMethod(
            "download:willPerformHTTPRedirection:newRequest:decisionHandler:",
            "download(_:willPerformHTTPRedirection:newRequest:decisionHandler:)"),
        OptionalMethod(
            "download:didReceiveAuthenticationChallenge:completionHandler:",
            "download(_:didReceive:completionHandler:)"),
        OptionalMethod("downloadDidFinish:", "downloadDidFinish(_:)"),
        OptionalMethod(
            "download:didFailWithError:resumeData:", "download(_:didFailWithError:resumeData:)"),
    ]
}
