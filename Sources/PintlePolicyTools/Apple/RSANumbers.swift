internal import Pintle

/// The numbers of an `RSAPrivateKey` with two factors (RFC 8017 appendix A.1.2).
struct RSANumbers {
    /// The `RSAPublicKey` (RFC 8017 appendix A.1.1), DER.
    let publicKey: [UInt8]
    private let modulus, exponent, privateExponent: [UInt8]
    private let factors: [[UInt8]]

    /// - Parameter numbers: n, e, d, p, q and the three that follow from them.
    init(_ numbers: [DERElement], in der: [UInt8]) {
        let values = numbers.map { Array(der[$0.contents]) }
        publicKey = DERText.sequence(Array(der[numbers[0].range]) + der[numbers[1].range])
        (modulus, exponent, privateExponent) = (values[0], values[1], values[2])
        factors = Array(values[3...4])
    }

    /// A Boolean value that indicates whether the modulus is the product of the factors, and the product of the
    /// exponents is 1 modulo each factor less one (RFC 8017 section 3.2).
    var areMatching: Bool {
        // 16,384 bits, as OpenSSL examines. Numbers of any size would take any time.
        guard modulus.count <= 2_049 else { return true }
        guard ([exponent, privateExponent] + factors).allSatisfy({ $0.count <= modulus.count }) else { return false }
        let factors = factors.map(Natural.init)
        let power = Natural(exponent).times(Natural(privateExponent))
        return factors[0].times(factors[1]) == Natural(modulus)
            && factors.allSatisfy { factor in
                guard let less = factor.lessOne, less.lessOne != nil || less == .one, let even = power.lessOne else {
                    return false
                }
                return even.isMultiple(of: less)
            }
    }
}

/// A natural number. The time of its operations depends on it, which is safe for a key of the person at this machine.
private struct Natural: Equatable {
    /// The lowest first; the last one is not 0.
    private var words: [UInt32]

    static let one = Natural([1])

    /// - Parameter octets: big-endian.
    init(_ octets: [UInt8]) {
        words = [UInt32](repeating: 0, count: (octets.count + 3) / 4)
        for (index, octet) in octets.reversed().enumerated() { words[index / 4] |= UInt32(octet) << (index % 4 * 8) }
        trim()
    }

    private mutating func trim() {
        while words.last == 0 { words.removeLast() }
    }

    func times(_ other: Natural) -> Natural {
        var product = Natural([])
        product.words = [UInt32](repeating: 0, count: words.count + other.words.count)
        for (index, word) in words.enumerated() {
            var carry: UInt64 = 0
            for (offset, factor) in other.words.enumerated() {
                carry += UInt64(word) * UInt64(factor) + UInt64(product.words[index + offset])
                product.words[index + offset] = UInt32(truncatingIfNeeded: carry)
                carry >>= 32
            }
            product.words[index + other.words.count] = UInt32(carry)
        }
        product.trim()
        return product
    }

    /// The number before this one; `nil` for 0.
    var lessOne: Natural? {
        guard let index = words.firstIndex(where: { $0 != 0 }) else { return nil }
        var result = self
        for lower in 0..<index { result.words[lower] = .max }
        result.words[index] -= 1
        result.trim()
        return result
    }

    /// - Parameter divisor: not 0.
    func isMultiple(of divisor: Natural) -> Bool {
        var rest = Natural([])
        for word in words.reversed() {
            for bit in (0..<32).reversed() {
                rest.double(adding: word >> UInt32(bit) & 1)
                if !rest.isBelow(divisor) { rest.subtract(divisor) }
            }
        }
        return rest.words.isEmpty
    }

    private mutating func double(adding bit: UInt32) {
        var carry = bit
        for index in words.indices {
            let high = words[index] >> 31
            words[index] = words[index] << 1 | carry
            carry = high
        }
        if carry != 0 { words.append(carry) }
    }

    private func isBelow(_ other: Natural) -> Bool {
        guard words.count == other.words.count else { return words.count < other.words.count }
        return words.reversed().lexicographicallyPrecedes(other.words.reversed())
    }

    /// - Parameter other: not above this number.
    private mutating func subtract(_ other: Natural) {
        var borrow = false
        for index in words.indices {
            let (less, first) = words[index].subtractingReportingOverflow(borrow ? 1 : 0)
            let (result, second) = less.subtractingReportingOverflow(
                index < other.words.count ? other.words[index] : 0)
            words[index] = result
            borrow = first || second
        }
        trim()
    }
}
