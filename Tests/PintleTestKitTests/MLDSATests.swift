import PintleTestKit
import Testing

@Suite("Minting with ML-DSA")
struct MLDSATests {
    private static let types: [KeyType] = [.mlDSA44, .mlDSA65, .mlDSA87]

    @Test("An OpenSSL without ML-DSA says so, and the same OpenSSL makes an Ed25519 key")
    func unavailable() throws {
        #expect(KeyType.ed25519.isAvailable)
        _ = try PrivateKey(.ed25519)
        for type in Self.types where !type.isAvailable {
            let error = #expect(throws: MintingError.self) { try PrivateKey(type) }
            #expect(error?.reason.contains("is unavailable: it needs OpenSSL 3.5, and here is ") == true)
        }
    }

    @Test(
        "Keys and signatures have the sizes of FIPS 204, and the SPKI has the identifier of RFC 9881",
        .enabled(if: KeyType.mlDSA44.isAvailable, "skipped: needs OpenSSL 3.5, as in make modern"),
        arguments: zip(types, [(17, 1_312, 2_420), (18, 1_952, 3_309), (19, 2_592, 4_627)]))
    func sizes(_ type: KeyType, _ expected: (arc: UInt8, key: Int, signature: Int)) throws {
        let key = try PrivateKey(type)
        let header: [UInt8] = [0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, expected.arc]
        #expect(Array(key.spkiDER.dropFirst(4).prefix(header.count)) == header)
        #expect(key.spkiDER.count == 4 + header.count + 5 + expected.key)
        #expect(try key.sign(Array("message".utf8)).count == expected.signature)
        #expect(try PrivateKey(pem: key.pem) == key)
    }
}
