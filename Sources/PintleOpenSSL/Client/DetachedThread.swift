internal import Glibc

/// Starts detached threads for calls that cannot be interrupted, such as those of the resolver and of OpenSSL. The
/// caller can stop waiting; the thread ends when its call returns.
package enum DetachedThread {
    /// Runs `body` on a new thread.
    ///
    /// - Parameter body: the work of the thread.
    /// - Returns: `false` if the system cannot start a thread. Then `body` does not run.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        final class Body: Sendable {
            let run: @Sendable () -> Void
            init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }
        let body = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
