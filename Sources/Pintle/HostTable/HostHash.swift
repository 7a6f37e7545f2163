/// The hash of a host, read from the right: each byte times a random key of its position, added up.
///
/// That is multilinear hashing (Lemire and Kaser, "Strongly universal string hashing is fast", 2014):
/// with keys that nobody outside knows, two different names meet in the high bits with probability
/// 2^-32 or less per 32 bits, whatever the names are. So a policy of crafted hosts is no slower than
/// another, and each table draws its own keys. The sums have no dependency on one another but the addition, and
/// after each byte the running sum *is* the hash of the suffix.
struct HostHash: Sendable {
    /// One key for each position, counted from the right; as many as the longest host has bytes.
    let keys: [UInt64]
    let start: UInt64
    private let portKey: UInt64

    init(longestHost: Int, using generator: inout some RandomNumberGenerator) {
        keys = (0..<longestHost).map { _ in generator.next() }
        start = generator.next()
        portKey = generator.next()
    }

    /// What a port adds to the hash of a host. Rules for every port add nothing.
    @inline(__always)
    func term(port: UInt16) -> UInt64 {
        portKey &* (UInt64(port) + 1)
    }

    func callAsFunction(_ host: Span<UInt8>, port: UInt16?) -> UInt64 {
        var sum = start
        for index in host.indices {
            sum &+= keys[host.count - 1 - index] &* UInt64(host[index])
        }
        return port.map { sum &+ term(port: $0) } ?? sum
    }
}
