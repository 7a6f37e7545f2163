/// A hash of a host that is computed from the right in words of eight bytes. The state after some words is therefore
/// the hash of the suffix that they form.
///
/// Each word is mixed in with one 64 x 64 -> 128 bit multiplication by a random factor, and the halves of the product
/// are folded together. Start and factor are random for each table, so an attacker cannot craft hosts whose hashes
/// collide.
struct HostHash: Sendable {
    private let start: UInt64
    private let factor: UInt64
    private let portFactor: UInt64

    init(using generator: inout some RandomNumberGenerator) {
        start = generator.next()
        factor = generator.next()
        portFactor = generator.next()
    }

    @inline(__always)
    func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word).multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }

    /// Returns the number that a port adds to the hash of a host: 0 for rules for every port.
    @inline(__always)
    func term(port: UInt16?) -> UInt64 {
        port.map { portFactor &* (UInt64($0) + 1) } ?? 0
    }

    /// Returns the hash of a host for any port.
    func callAsFunction(_ host: RawSpan) -> UInt64 {
        var state = start
        var end = host.byteCount
        while end >= 8 {
            end &-= 8
            state = mix(state, host.word(at: end))
        }
        return end > 0 ? mix(state, host.word(before: end)) : state
    }

    /// Returns the hash of a host for any port and stores the hash of the last n whole words in `states[n]`. `states`
    /// must have room for one more element than the host has whole words.
    @inline(__always)
    func callAsFunction(_ host: RawSpan, states: UnsafeMutableBufferPointer<UInt64>) -> UInt64 {
        var state = start
        var end = host.byteCount
        var index = 0
        states[0] = state
        while end >= 8 {
            end &-= 8
            state = mix(state, host.word(at: end))
            index &+= 1
            states[index] = state
        }
        return end > 0 ? mix(state, host.word(before: end)) : state
    }
}

extension RawSpan {
    /// Returns the eight bytes at this offset, the first in the lowest byte. "Unsafe" means only that any bytes are
    /// read as a number: the bounds are checked.
    @inline(__always)
    func word(at offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// Returns the bytes before this offset, fewer than eight, in the highest bytes of a word. The lower bytes are
    /// zero.
    @inline(__always)
    func word(before end: Int) -> UInt64 {
        if byteCount >= 8 { return word(at: 0) << UInt64(truncatingIfNeeded: 64 &- 8 &* end) }
        var word: UInt64 = 0
        for offset in 0..<end {
            word = word >> 8 | UInt64(unsafeLoad(fromByteOffset: offset, as: UInt8.self)) << 56
        }
        return word
    }

    /// Returns whether the bytes from `offset` to the end equal those of the other span from `start` on. The caller
    /// ensures that the other span is long enough.
    @inline(__always)
    func hasSameBytes(from offset: Int, as other: RawSpan, from start: Int) -> Bool {
        let count = byteCount &- offset
        guard count >= 8 else {
            for index in 0..<count
            where unsafeLoad(fromByteOffset: offset + index, as: UInt8.self)
                != other.unsafeLoad(fromByteOffset: start + index, as: UInt8.self)
            {
                return false
            }
            return true
        }
        // Compare eight bytes at a time from the right. The last comparison overlaps the one before.
        var end = count &- 8
        while end > 0 {
            guard word(at: offset &+ end) == other.word(at: start &+ end) else { return false }
            end &-= 8
        }
        return word(at: offset) == other.word(at: start)
    }
}
