/// A monotonic clock for waits.
package enum Uptime {
    package static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    package static var seconds: Double { Double(milliseconds) / 1_000 }
}
