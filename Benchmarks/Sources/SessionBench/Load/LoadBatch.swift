/// The measurement of some requests that one client made: nanoseconds, and as text one line of a client's output.
struct LoadBatch {
    var wall: Double
    /// The user and system time of all threads of the client.
    var processor: Double
    /// The latency that half of the requests do not exceed.
    var p50: Double
    /// The latency that 99 of 100 requests do not exceed.
    var p99: Double

    /// - Parameter latencies: at least one.
    init(wall: UInt64, processor: UInt64, latencies: [UInt64]) {
        let sorted = latencies.sorted()
        func percentile(_ percent: Int) -> Double { Double(sorted[(sorted.count - 1) * percent / 100]) }
        self.init(wall: Double(wall), processor: Double(processor), p50: percentile(50), p99: percentile(99))
    }

    init(wall: Double, processor: Double, p50: Double, p99: Double) {
        (self.wall, self.processor, self.p50, self.p99) = (wall, processor, p50, p99)
    }

    init?(_ line: String) {
        let numbers = line.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 4 else { return nil }
        self.init(wall: numbers[0], processor: numbers[1], p50: numbers[2], p99: numbers[3])
    }

    var line: String { [wall, processor, p50, p99].map { text($0) }.joined(separator: " ") }
}
