import Testing

@testable import Pintle

@Suite("Public key descriptions")
struct PublicKeyDescriptionTests {
    typealias D = DERBytes

    private static func describe(_ key: [UInt8]) throws -> PublicKeyDescription {
        var certificate = UnsignedCertificate()
        certificate.key = key
        return try certificate.read().publicKey
    }

    private static func key(_ algorithm: [UInt8], _ parameters: [UInt8] = [], _ bits: [UInt8] = [1, 2, 3]) -> [UInt8] {
        D.sequence(D.sequence(algorithm, parameters), D.bitString(bits))
    }

    private static func rsa(modulus: [UInt8], exponent: [UInt8] = D.integer(1, 0, 1)) -> [UInt8] {
        key(D.oid(1, 2, 840, 113549, 1, 1, 1), D.null, D.sequence(D.element(0x02, modulus), exponent))
    }

    static let elliptic = D.oid(1, 2, 840, 10045, 2, 1)

    @Test(
        "Keys are described with their common names and sizes",
        arguments: [
            (key(elliptic, D.oid(1, 2, 840, 10045, 3, 1, 7)), "EC P-256", "EC", 256),
            (key(elliptic, D.oid(1, 3, 132, 0, 34)), "EC P-384", "EC", 384),
            (key(elliptic, D.oid(1, 3, 132, 0, 35)), "EC P-521", "EC", 521),
            (key(elliptic, D.oid(1, 3, 132, 0, 10)), "EC 1.3.132.0.10", "EC", nil),
            (key(elliptic, D.sequence(D.integer(1))), "EC with explicit parameters", "EC", nil),
            (key(elliptic), "EC with explicit parameters", "EC", nil),
            (key(D.oid(1, 3, 101, 112)), "Ed25519", "Ed25519", 256),
            (key(D.oid(1, 3, 101, 113)), "Ed448", "Ed448", 456),
            (key(D.oid(1, 3, 101, 110)), "1.3.101.110", "1.3.101.110", nil),
            (key(D.oid(2, 16, 840, 1, 101, 3, 4, 3, 17)), "ML-DSA-44", "ML-DSA-44", nil),
            (key(D.oid(2, 16, 840, 1, 101, 3, 4, 3, 18)), "ML-DSA-65", "ML-DSA-65", nil),
            (key(D.oid(2, 16, 840, 1, 101, 3, 4, 3, 19)), "ML-DSA-87", "ML-DSA-87", nil),
            (key(D.oid(2, 16, 840, 1, 101, 3, 4, 3, 20)), "2.16.840.1.101.3.4.3.20", "2.16.840.1.101.3.4.3.20", nil),
            (key(D.oid(1, 2, 840, 10040, 4, 1)), "DSA", "DSA", nil),
            (
                key(D.oid(1, 2, 840, 10040, 4, 1), D.sequence(D.integer(0, 0xFF, 1), D.integer(3), D.integer(2))),
                "DSA 16", "DSA", 16
            ),
        ] as [([UInt8], String, String, Int?)])
    func names(_ key: [UInt8], _ description: String, _ type: String, _ bits: Int?) throws {
        let read = try Self.describe(key)
        #expect(read.description == description)
        #expect(read.type == type)
        #expect(read.bits == bits)
    }

    @Test("The size of an RSA key is that of its modulus, without leading zeros")
    func rsaSizes() throws {
        for bits in [1, 8, 9, 512, 1023, 1024, 2048, 2049, 4096, 16_384] {
            var modulus = [UInt8](repeating: 0xFF, count: (bits + 7) / 8)
            modulus[0] = UInt8((1 << ((bits - 1) % 8 + 1)) - 1)
            if modulus[0] >= 0x80 { modulus.insert(0, at: 0) }
            let read = try Self.describe(Self.rsa(modulus: modulus))
            #expect(read.bits == bits)
            #expect(read.description == "RSA \(bits)")
        }
        #expect(try Self.describe(Self.rsa(modulus: [0])).bits == 0)
        #expect(try Self.describe(Self.rsa(modulus: [0x7F], exponent: D.integer(3))).bits == 7)
    }

    @Test("An RSA-PSS key is distinguished from an RSA key, with and without parameters")
    func pss() throws {
        let numbers = D.sequence(D.element(0x02, [0x7F, 0xFF]), D.integer(3))
        let identifier = D.oid(1, 2, 840, 113549, 1, 1, 10)
        #expect(try Self.describe(Self.key(identifier, [], numbers)).description == "RSA-PSS 15")
        #expect(try Self.describe(Self.key(identifier, D.sequence(), numbers)).type == "RSA-PSS")
    }

    @Test(
        "A key with a broken structure is refused",
        arguments: [
            rsa(modulus: []), rsa(modulus: [0, 1]), rsa(modulus: [0x7F], exponent: []),
            rsa(modulus: [0x7F], exponent: D.integer(3) + D.integer(5)), key(D.oid(1, 2, 840, 113549, 1, 1, 1)),
            D.sequence(D.sequence(D.null), D.bitString([1])), D.sequence(D.sequence(), D.bitString([1])),
            D.sequence(D.sequence(D.oid(1, 3, 101, 112), D.null, D.null), D.bitString([1])),
            D.sequence(D.sequence(D.oid(1, 3, 101, 112)), D.octetString([1])),
            D.sequence(D.sequence(D.oid(1, 3, 101, 112)), D.bitString([1]), D.null),
            D.sequence(D.sequence(D.oid(1, 3, 101, 112))), key(elliptic, [0x06, 0x01, 0x80]),
            key(D.oid(1, 2, 840, 10040, 4, 1), D.sequence(D.null)),
        ] as [[UInt8]])
    func broken(_ key: [UInt8]) {
        var certificate = UnsignedCertificate()
        certificate.key = key
        let der = certificate.der
        #expect(DERError.thrown { () throws(DERError) in _ = try Certificate(der: der) } != nil)
        #expect(DERError.thrown { () throws(DERError) in _ = try PublicKeyPin(subjectPublicKeyInfo: key) } != nil)
    }
}
