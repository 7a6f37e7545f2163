internal import Glibc

/// Threads that end by themselves: calls of the system and of OpenSSL cannot be interrupted, so their callers stop
/// waiting instead.
package enum DetachedThread {
    /// Runs `body` on a thread of its own.
    ///
    /// - Returns: `false` where the system gives no thread. Then `body` does not run.
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
