import CAllocationCounter
import CBaselines

/// One of several implementations of the same work.
struct Peer {
    let name: String
    /// Does the work `count` times and returns a value that depends on all results.
    let run: (_ count: Int) -> Int
}

/// Receives results, so that the compiler cannot remove the work.
nonisolated(unsafe) var sink = 0

/// Returns the nanoseconds for each piece of work of each peer, as the median of batches. The peers take turns, so that
/// a slow phase of the machine affects all of them.
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

/// Returns the calls of malloc and similar functions for each piece of work, after a warm-up.
func allocations(of peer: Peer) -> Double {
    sink &+= peer.run(10)
    let before = counted_allocations()
    sink &+= peer.run(1000)
    return Double(counted_allocations() - before) / 1000
}
