/// The medians of a client's batches.
struct LoadFigures {
    let requestsPerSecond: Double
    /// Microseconds of processor time for each request.
    let processor: Double
    /// Microseconds, as `LoadBatch` defines it.
    let p50: Double
    let p99: Double

    /// - Parameters:
    ///   - batches: at least one.
    ///   - count: the number of requests of each batch.
    init(_ batches: [LoadBatch], count: Int) {
        func median(_ value: (LoadBatch) -> Double) -> Double { batches.map(value).sorted()[batches.count / 2] }
        requestsPerSecond = median { Double(count) / $0.wall * 1_000_000_000 }
        processor = median { $0.processor / Double(count) / 1_000 }
        p50 = median { $0.p50 / 1_000 }
        p99 = median { $0.p99 / 1_000 }
    }
}
