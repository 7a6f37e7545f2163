/// A POSIX thread, for calls that block. Its starter joins or detaches it once.
package struct SystemThread: Hashable, Sendable {
    #if canImport(Darwin)
    // A pointer, which only the system's functions read. They are safe on any thread.
    nonisolated(unsafe) private let id: pthread_t
    #else
    private let id: pthread_t
    #endif

    /// The thread that asks.
    package static var current: SystemThread { SystemThread(id: pthread_self()) }

    private init(id: pthread_t) {
        self.id = id
    }

    /// Runs `body` on a new thread.
    ///
    /// - Returns: `nil` if the system cannot start a thread. Then `body` does not run.
    package static func start(_ body: @escaping @Sendable () -> Void) -> SystemThread? {
        let body = Unmanaged.passRetained(Body(body))
        #if canImport(Darwin)
        var id: pthread_t?
        #else
        var id = pthread_t()
        #endif
        let code = pthread_create(&id, nil, runBody, body.toOpaque())
        #if canImport(Darwin)
        guard code == 0, let id else { return abandon(body) }
        #else
        guard code == 0 else { return abandon(body) }
        #endif
        return SystemThread(id: id)
    }

    /// Runs `body` on a new thread that is never joined, for calls that cannot be interrupted, such as those of the
    /// resolver and of OpenSSL. The caller can stop waiting; the thread ends when its call returns.
    ///
    /// - Returns: `false` if the system cannot start a thread. Then `body` does not run.
    package static func startDetached(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = start(body) else { return false }
        thread.detach()
        return true
    }

    private static func abandon(_ body: Unmanaged<Body>) -> SystemThread? {
        body.release()
        return nil
    }

    /// Waits until the thread has ended.
    package func join() {
        pthread_join(id, nil)
    }

    /// Lets the thread end without a call of ``join()``.
    package func detach() {
        pthread_detach(id)
    }
}

private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

#if canImport(Darwin)
private func runBody(_ body: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run()
    return nil
}
#else
private func runBody(_ body: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let body else { return nil }
    Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run()
    return nil
}
#endif
