#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Runs work on a new thread. An observer may block, and if a task ends the process, Swift's thread pool may have no
/// free thread.
enum FeedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }

        static func run(_ context: UnsafeMutableRawPointer) {
            Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        }
    }

    /// Starts a thread. If the system has none left, Swift's thread pool runs the work.
    static func start(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run))
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        let status = pthread_create(
            &thread, nil,
            { context in
                #if !canImport(Darwin)
                guard let context else { return nil }
                #endif
                Body.run(context)
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            body.release()
            Task.detached(priority: .utility) { run() }
            return
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
    }
}
