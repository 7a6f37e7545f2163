internal import Pintle

/// The scope of one bundled policy. Made when the first update asks for it, since many starts of an app meet none, and
/// then kept: it does not change while the process lives.
final class BundledScope: Sendable {
    private let bundled: PinningPolicy
    private let made = Locked<UpdateScope?>(nil)

    init(of bundled: PinningPolicy) {
        self.bundled = bundled
    }

    /// On any thread; whoever asks first makes it, and others wait for that.
    var scope: UpdateScope {
        made.withLock { made in
            if let made { return made }
            let scope = UpdateScope(bundled: bundled)
            made = scope
            return scope
        }
    }
}
