import Foundation

/// The methods that are present only if the app's delegate has them. A call for a task that is guarded goes to the
/// session's delegate then, because the system asks that one about each method that a task's delegate lacks.
///
/// All other methods of the class are always present: those that decide, and those that keep its records. A method that
/// is in no list is absent, because the class does not implement it.
extension PinningSessionDelegate {
    /// The methods that pass a call on.
    static let forwardedSelectors: Set<String> = [
        "URLSessionDidFinishEventsForBackgroundURLSession:",
        "URLSession:taskIsWaitingForConnectivity:",
        "URLSession:task:needNewBodyStream:",
        "URLSession:task:needNewBodyStreamFromOffset:completionHandler:",
        "URLSession:task:didSendBodyData:totalBytesSent:totalBytesExpectedToSend:",
        "URLSession:task:didReceiveInformationalResponse:",
        "URLSession:dataTask:didBecomeDownloadTask:",
        "URLSession:dataTask:didBecomeStreamTask:",
        "URLSession:dataTask:didReceiveData:",
        "URLSession:dataTask:willCacheResponse:completionHandler:",
        "URLSession:downloadTask:didFinishDownloadingToURL:",
        "URLSession:downloadTask:didWriteData:totalBytesWritten:totalBytesExpectedToWrite:",
        "URLSession:downloadTask:didResumeAtOffset:expectedTotalBytes:",
        "URLSession:webSocketTask:didOpenWithProtocol:",
        "URLSession:webSocketTask:didCloseWithCode:reason:",
    ]

    /// The methods of `AVAssetDownloadDelegate` and `URLSessionStreamDelegate`. The class does not have them; the
    /// Objective-C runtime passes them on.
    static let foreignSelectors: Set<String> = [
        "URLSession:assetDownloadTask:didFinishDownloadingToURL:",
        "URLSession:assetDownloadTask:didLoadTimeRange:totalTimeRangesLoaded:timeRangeExpectedToLoad:",
        "URLSession:assetDownloadTask:didReceiveMetricEvent:",
        "URLSession:assetDownloadTask:didResolveMediaSelection:",
        "URLSession:assetDownloadTask:willDownloadToURL:",
        "URLSession:assetDownloadTask:willDownloadVariants:",
        "URLSession:aggregateAssetDownloadTask:didCompleteForMediaSelection:",
        "URLSession:aggregateAssetDownloadTask:didLoadTimeRange:totalTimeRangesLoaded:timeRangeExpectedToLoad:"
            + "forMediaSelection:",
        "URLSession:aggregateAssetDownloadTask:willDownloadToURL:",
        "URLSession:betterRouteDiscoveredForStreamTask:",
        "URLSession:readClosedForStreamTask:",
        "URLSession:streamTask:didBecomeInputStream:outputStream:",
        "URLSession:writeClosedForStreamTask:",
    ]

    /// For each method that passes a call on, a check that a delegate conforms to the protocol of the method.
    ///
    /// A class in Objective-C may implement a method without declaring the protocol. The call could not be passed on.
    private static let conformances = Dictionary(
        uniqueKeysWithValues: forwardedSelectors.map { (Selector($0), conformance(for: $0)) })
    private static let foreignMethods = Set(foreignSelectors.map { Selector($0) })

    private static func conformance(for name: String) -> @Sendable (any URLSessionDelegate) -> Bool {
        let labels = name.split(separator: ":").dropFirst()
        switch labels.first {
        case "dataTask": return { $0 is any URLSessionDataDelegate }
        case "downloadTask": return { $0 is any URLSessionDownloadDelegate }
        case "webSocketTask": return { $0 is any URLSessionWebSocketDelegate }
        case nil: return { _ in true }
        default: return { $0 is any URLSessionTaskDelegate }
        }
    }

    /// Returns whether the app's delegate has a method, and gets its calls; `nil` for a method that does not depend on
    /// it.
    package func answer(to aSelector: Selector) -> Bool? {
        let conforms = Self.conformances[aSelector]
        guard conforms != nil || Self.foreignMethods.contains(aSelector) else { return nil }
        guard let forwarded, forwarded.responds(to: aSelector) else { return false }
        return conforms?(forwarded) ?? true
    }

    /// Returns the app's delegate, if it gets a call that this class has no method for.
    package func target(of aSelector: Selector) -> (any URLSessionDelegate)? {
        guard Self.foreignMethods.contains(aSelector) else { return nil }
        return forwarded?.responds(to: aSelector) ?? false ? forwarded : nil
    }
}

#if !canImport(ObjectiveC)
extension PinningSessionDelegate: SelectorAnswering {}
#endif

/// Two delegates, of which the first that implements a method gets the call. The system does the same with the
/// delegates of a task and of its session.
struct Receivers<Delegate> {
    let first: Delegate?
    let second: Delegate?

    func flatMap<Method>(_ method: (Delegate) -> Method?) -> Method? {
        first.flatMap(method) ?? second.flatMap(method)
    }
}

/// Returns a method of a delegate, if the delegate has it. Apple's protocols declare such methods as optional.
///
/// - Parameters:
///   - method: The method, as `delegate.urlSession(_:didCreateTask:)`.
///   - name: The method's name, where it is not that of the caller.
func offered<Method>(
    _ delegate: some NSObjectProtocol, _ method: Method?, named name: String = #function
) -> Method? {
    #if canImport(ObjectiveC)
    return method
    #else
    // The stand-ins' protocols give each method a default implementation.
    return delegate.hasMethod(name, Method.self) ? method : nil
    #endif
}
