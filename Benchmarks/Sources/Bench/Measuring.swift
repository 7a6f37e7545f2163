import CBaselines

/// One of several that do the same work.
struct Peer {
    let name: String
    /// Does the work this many times and returns something that depends on all of it.
    let run: (_ count: Int) -> Int
}

/// What the compiler must believe is looked at.
nonisolated(unsafe) var sink = 0

/// Nanoseconds per piece of work for each peer: the median of batches that take turns, so that a
/// machine that slows down slows all of them down.
func compare(_ peers: [Peer], batches: Int = 41, batchNanoseconds: Double = 2_000_000) -> [Double] {
    let counts = peers.map { peer in
        var count = 1
        while time(peer, count) < batchNanoseconds / 4, count < 1 << 24 { count *= 2 }
        return max(1, Int(Double(count) * batchNanoseconds / time(peer, count)))
    }
    var samples = peers.map { _ in [Double]() }
    for _ in 0..<batches {
        for (index, peer) in peers.enumerated() {
            samples[index].append(time(peer, counts[index]) / Double(counts[index]))
        }
    }
    return samples.map(median)
}

func median(_ samples: [Double]) -> Double {
    samples.sorted()[samples.count / 2]
}

private func time(_ peer: Peer, _ count: Int) -> Double {
    let start = baseline_cpu_nanoseconds()
    sink &+= peer.run(count)
    return Double(baseline_cpu_nanoseconds() - start)
}

/// Calls of malloc and its cousins per piece of work, once everything is warm.
func allocations(of peer: Peer) -> Double {
    sink &+= peer.run(10)
    let before = baseline_allocations()
    sink &+= peer.run(1000)
    return Double(baseline_allocations() - before) / 1000
}
