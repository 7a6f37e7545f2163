/// The measurement of some requests that one client made, and as text one line of a client's output.
struct LoadBatch {
    /// Nanoseconds.
    let wall: Double
    /// The user and system time of all threads of the client, in nanoseconds.
    let processor: Double
    /// The latency that half of the requests do not exceed, in nanoseconds.
    let p50: Double
    /// The latency that 99 of 100 requests do not exceed, in nanoseconds.
    let p99: Double
    /// Calls of malloc and similar functions. Zero if the process does not count them.
    let allocations: Double

    /// - Parameter latencies: the nanoseconds of each request, of which there is at least one.
    init(wall: UInt64, processor: UInt64, allocations: UInt64, latencies: [UInt64]) {
        let sorted = latencies.sorted()
        func percentile(_ percent: Int) -> Double { Double(sorted[(sorted.count - 1) * percent / 100]) }
        (self.wall, self.processor, self.allocations) = (Double(wall), Double(processor), Double(allocations))
        (p50, p99) = (percentile(50), percentile(99))
    }

    init?(_ line: String) {
        let numbers = line.split(separator: " ").compactMap { Double($0) }
        guard numbers.count == 5 else { return nil }
        (wall, processor, p50, p99, allocations) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
    }

    var line: String { [wall, processor, p50, p99, allocations].map { text($0) }.joined(separator: " ") }
}
