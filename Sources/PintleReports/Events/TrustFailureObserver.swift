public import Pintle

/// Hears of failures while an app runs. Nothing leaves the process by it.
///
///     let session = URLSession.pinned(to: policy, observer: reporter)
///
/// A session and an observed evaluator hand events over outside of the handshake, one after the other, on a thread of
/// their own. While one is being observed up to 256 wait, with 16 MiB of certificates in all; what comes beyond is dropped.
public protocol TrustFailureObserver: Sendable {
    /// Called once for each event. Others wait meanwhile: whatever takes long belongs on a thread of its own.
    func observe(_ event: TrustFailureEvent)
}

/// Several observers as one, in order.
public struct TrustFailureObservers: TrustFailureObserver {
    private let observers: [any TrustFailureObserver]

    /// Observers that are called in this order.
    public init(_ observers: any TrustFailureObserver...) {
        self.observers = observers
    }

    /// Hands the event to each observer.
    public func observe(_ event: TrustFailureEvent) {
        for observer in observers { observer.observe(event) }
    }
}

extension ServerTrustEvaluator {
    /// Returns the same evaluator, which also hands failures to an observer. The handshake does not wait for the observer.
    public func onFailure(notify observer: some TrustFailureObserver) -> ServerTrustEvaluator {
        onFailure { failure in TrustFailureFeed.shared.post(.verdict(failure), to: observer) }
    }
}
