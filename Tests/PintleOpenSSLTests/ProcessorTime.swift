import Glibc

/// The processor time of the calling thread, to which other tests and processes add nothing.
enum ProcessorTime {
    /// Returns the seconds that `body` takes on this thread.
    static func measure(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return now() - start
    }

    private static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
