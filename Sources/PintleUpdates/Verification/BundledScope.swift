internal import Pintle

/// The scope of a bundled policy. It is built lazily, because many starts of an app meet no update. Then it is cached:
/// the bundled policy does not change while the process lives.
final class BundledScope: Sendable {
    private let bundled: PinningPolicy
    private let made = Locked<UpdateScope?>(nil)

    init(of bundled: PinningPolicy) {
        self.bundled = bundled
    }

    /// The scope. Safe to use from any thread: the first caller builds it, and concurrent callers wait.
    var scope: UpdateScope {
        made.withLock { made in
            if let made { return made }
            let scope = UpdateScope(bundled: bundled)
            made = scope
            return scope
        }
    }
}
