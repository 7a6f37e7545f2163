public import Pintle

/// Receives events while an app runs. It sends nothing out of the process by itself.
///
///     let session = URLSession.pinned(to: policy, observer: reporter)
///
/// Sessions and observed evaluators deliver events outside of the handshake, one at a time, on a separate thread. While
/// an event is being observed, up to 256 others with up to 16 MiB of certificates are queued. Further events are
/// dropped.
public protocol TrustEventObserver: Sendable {
    /// Called once for each event. Other events wait meanwhile, so move long work to another thread.
    ///
    /// - Parameter event: the event.
    func observe(_ event: TrustEvent)
}

/// Combines several observers into one.
public struct TrustEventObservers: TrustEventObserver {
    private let observers: [any TrustEventObserver]

    /// Creates an observer that calls these observers in this order.
    public init(_ observers: any TrustEventObserver...) {
        self.observers = observers
    }

    /// Passes the event to each observer.
    public func observe(_ event: TrustEvent) {
        for observer in observers { observer.observe(event) }
    }
}

extension ServerTrustEvaluator {
    /// Returns an evaluator that also passes its events to an observer. The handshake does not wait for the observer.
    public func observed(by observer: some TrustEventObserver) -> ServerTrustEvaluator {
        onFailure { event in TrustEventFeed.shared.post(.verdict(event), to: observer) }
    }
}
