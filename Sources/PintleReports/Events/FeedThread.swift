#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Runs something on a thread of its own: an observer may wait for the disk or for somebody else, and where a process ends
/// from a task, the pool may have no other thread.
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

    /// Where there can be no more threads, the pool does it.
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
