import Foundation
import PintleApple
import PintleTestKit
import PintleURLSession
import Security
import Testing

/// Methods that a delegate may lack. The system asks `responds(to:)`, as it does with each delegate.
@Suite("Apple: methods that a delegate lacks")
struct AbsentMethodTests {
    /// The methods in which the package decides, and those in which it keeps its records.
    private static let decidingSelectors = [
        "URLSession:didReceiveChallenge:completionHandler:",
        "URLSession:task:didReceiveChallenge:completionHandler:",
        "URLSession:task:willPerformHTTPRedirection:newRequest:completionHandler:",
        "URLSession:didCreateTask:",
        "URLSession:task:willBeginDelayedRequest:completionHandler:",
        "URLSession:dataTask:didReceiveResponse:completionHandler:",
        "URLSession:task:didCompleteWithError:",
        "URLSession:task:didFinishCollectingMetrics:",
        "URLSession:didBecomeInvalidWithError:",
    ]
    private static let forwardedSelectors = [
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
    private static let foreignSelectors = [
        "URLSession:assetDownloadTask:didFinishDownloadingToURL:",
        "URLSession:aggregateAssetDownloadTask:willDownloadToURL:",
        "URLSession:readClosedForStreamTask:",
    ]

    /// Returns the delegate of a session and the guard of a task, both before a delegate of the app.
    private static func delegates(of delegate: any URLSessionTaskDelegate) throws -> [any URLSessionTaskDelegate] {
        let policy = try PinningPolicy(hosts: [])
        let session: URLSession = .pinned(to: policy)
        defer { session.invalidateAndCancel() }
        let pinned = PinningSessionDelegate(policy, forwardingTo: delegate)
        return [
            pinned, PinningSessionDelegate(policy).guarding(delegate),
            URLSession.pinned(to: policy).guarding(delegate), session.guarding(delegate),
        ]
    }

    @Test("Each method that decides is present, whatever the app's delegate has", arguments: decidingSelectors)
    func deciding(selector: String) throws {
        let all = try Self.delegates(of: EmptyDelegate()) + Self.delegates(of: CompleteDelegate(responds: false))
        for delegate in all + [PinningSessionDelegate(try PinningPolicy(hosts: []))] {
            #expect(delegate.responds(to: Selector(selector)))
        }
    }

    @Test(
        "Every other method is present only if the app's delegate has it",
        arguments: forwardedSelectors + foreignSelectors)
    func forwarded(selector: String) throws {
        for (own, isPresent) in [
            (EmptyDelegate(), false), (CompleteDelegate(responds: true), true),
        ] as [(any URLSessionTaskDelegate, Bool)] {
            for delegate in try Self.delegates(of: own) {
                #expect(delegate.responds(to: Selector(selector)) == isPresent)
            }
        }
        #expect(!PinningSessionDelegate(try PinningPolicy(hosts: [])).responds(to: Selector(selector)))
    }

    @Test("Each method of the session's delegate protocols is in one of the lists above")
    func complete() {
        let (deciding, forwarded) = (Set(Self.decidingSelectors), Set(Self.forwardedSelectors))
        #expect(StandIn.sessionDelegateSelectors == deciding.union(forwarded))
        #expect(deciding.isDisjoint(with: forwarded))
    }

    @Test("A method that no list names is absent, even if the app's delegate has it: it may decide about trust")
    func later() throws {
        for delegate in try Self.delegates(of: CompleteDelegate(responds: true)) {
            #expect(!delegate.responds(to: Selector("URLSession:task:decideTrustOf:completionHandler:")))
        }
    }

    @Test("The app's delegate is the target of the methods of protocols that the package does not import")
    func target() throws {
        let complete = CompleteDelegate(responds: true)
        for (own, isTarget) in [(complete, true), (EmptyDelegate(), false)] as [(any URLSessionTaskDelegate, Bool)] {
            let delegate = PinningSessionDelegate(try PinningPolicy(hosts: []), forwardingTo: own)
            for selector in Self.foreignSelectors {
                #expect((delegate.target(of: Selector(selector)) === own) == isTarget)
            }
            // The class has these itself, or must not have them.
            for selector in Self.forwardedSelectors + Self.decidingSelectors + [
                "URLSession:task:decideTrustOf:completionHandler:"
            ] {
                #expect(delegate.target(of: Selector(selector)) == nil)
            }
        }
    }

    @Test("The guard of a task has only that form of the body stream's method that the app's delegate has")
    func bodyStream() throws {
        final class Whole: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask,
                needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
            ) {}
        }
        final class Rest: NSObject, URLSessionTaskDelegate {
            func urlSession(
                _ session: URLSession, task: URLSessionTask, needNewBodyStreamFrom offset: Int64,
                completionHandler: @escaping @Sendable (InputStream?) -> Void
            ) {}
        }
        for (own, forms) in [(Whole(), [true, false]), (Rest(), [false, true])]
            as [(any URLSessionTaskDelegate, [Bool])]
        {
            for delegate in try Self.delegates(of: own) {
                let selectors = [
                    "URLSession:task:needNewBodyStream:",
                    "URLSession:task:needNewBodyStreamFromOffset:completionHandler:",
                ]
                #expect(selectors.map { delegate.responds(to: Selector($0)) } == forms)
            }
        }
    }

    @Test("A method of a protocol that the app's delegate does not declare is absent")
    func undeclared() throws {
        final class Undeclared: NSObject, URLSessionTaskDelegate {
            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
        }
        final class Declared: NSObject, URLSessionDataDelegate {
            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
        }
        let selector = Selector("URLSession:dataTask:didReceiveData:")
        for (own, isPresent) in [(Undeclared(), false), (Declared(), true)] as [(any URLSessionTaskDelegate, Bool)] {
            #expect(own.responds(to: selector))
            for delegate in try Self.delegates(of: own) { #expect(delegate.responds(to: selector) == isPresent) }
        }
    }

    @Test("The stand-in finds the methods of private, local and derived classes, and no default implementation")
    func standIn() {
        // `@unchecked`: neither class has properties.
        class Parent: NSObject, URLSessionDataDelegate, @unchecked Sendable {
            func urlSession(
                _ session: URLSession, dataTask: URLSessionDataTask, didBecome streamTask: URLSessionStreamTask
            ) {}
        }
        // `@unchecked`: as above.
        final class Child: Parent, @unchecked Sendable {
            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
        }
        let selectors = [
            "URLSession:task:didCompleteWithError:", "URLSession:dataTask:didBecomeStreamTask:",
            "URLSession:dataTask:didBecomeDownloadTask:", "URLSession:dataTask:didReceiveData:",
        ]
        #expect(selectors.map { Child().responds(to: Selector($0)) } == [true, true, false, false])
        #expect(selectors.map { Parent().responds(to: Selector($0)) } == [false, true, false, false])
        #expect(selectors.map { EmptyDelegate().responds(to: Selector($0)) } == [false, false, false, false])
        #expect(selectors.map { TaskEnds().responds(to: Selector($0)) } == [true, false, false, false])
    }
}

/// A delegate without a method.
final class EmptyDelegate: NSObject, URLSessionTaskDelegate {}

/// A delegate that says that it has every method or none, as a proxy in Objective-C can.
private final class CompleteDelegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate,
    URLSessionWebSocketDelegate, SelectorAnswering
{
    private let responds: Bool

    init(responds: Bool) {
        self.responds = responds
    }

    func answer(to aSelector: Selector) -> Bool? { responds }

    func urlSession(
        _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
    ) {}
}
