import FoundationEssentials
import Glibc
import Pintle
import PintleCrypto
import PintlePolicyFile
import PintleTestKit
import Testing

@Suite("Ed25519")
struct Ed25519Tests {
    /// RFC 8032 section 7.1, tests 1 to 3: seed, public key, message, signature.
    static let vectors = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ]

    @Test("Signing and verification match the test vectors of RFC 8032", arguments: vectors)
    func reference(seed: String, key: String, message: String, signature: String) throws {
        let (seed, key) = (try Hex.decode(seed), try Hex.decode(key))
        let (message, signature) = (try Hex.decode(message), try Hex.decode(signature))
        #expect(Ed25519.publicKey(ofSeed: seed) == key)
        #expect(Ed25519.signature(of: message, seed: seed) == signature)
        #expect(Ed25519.isValid(signature: signature, of: message, publicKey: key))
        #expect(!Ed25519.isValid(signature: signature, of: message + [0], publicKey: key))
    }

    @Test(
        "Verification gives the expected result for every case of Wycheproof",
        .enabled(if: SharedFile.bytes("ed25519_test.json") != nil, "skipped: the suite's data is not here"))
    func wycheproof() throws {
        let data = try #require(SharedFile.bytes("ed25519_test.json"))
        let root = try JSONDocument(data, limits: .init(allowsAnyNumber: true)).root
        var count = 0
        for group in try #require(root["testGroups"]?.elements) {
            let key = try Hex.decode(try #require(group["publicKey"]?["pk"]?.string))
            for test in try #require(group["tests"]?.elements) {
                let message = try Hex.decode(try #require(test["msg"]?.string))
                let signature = try Hex.decode(try #require(test["sig"]?.string))
                let isValid = Ed25519.isValid(signature: signature, of: message, publicKey: key)
                #expect(isValid == (test["result"]?.string == "valid"), "case \(test["tcId"]?.integer ?? 0)")
                count += 1
            }
        }
        #expect(count == root["numberOfTests"]?.integer.map { Int($0) })
        #expect(count >= 150)
    }

    /// All encodings of the eight points whose order divides 8.
    static let smallOrder = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    ]

    @Test("A weak key, for which anyone can make signatures, verifies nothing", arguments: smallOrder)
    func smallOrderKeys(_ text: String) throws {
        let key = try Hex.decode(text)
        // An R of small order with S = 0 satisfies the equation for at least one message in eight.
        for message in UInt8(0)..<32 {
            #expect(!Ed25519.isValid(signature: key + [UInt8](repeating: 0, count: 32), of: [message], publicKey: key))
        }
        #expect(!Ed25519.isAcceptable(publicKey: key))
        let ordinary = try Hex.decode(Self.vectors[0].1)
        #expect(Ed25519.isAcceptable(publicKey: ordinary))
    }

    @Test("A key or signature of a wrong length is invalid and does not trap")
    func lengths() throws {
        let vector = Self.vectors[0]
        let (key, signature) = (try Hex.decode(vector.1), try Hex.decode(vector.3))
        #expect(Ed25519.isValid(signature: signature, of: [], publicKey: key))
        for count in [0, 1, 31, 32, 63, 65] {
            let bytes = Array((signature + signature).prefix(count))
            #expect(!Ed25519.isValid(signature: bytes, of: [], publicKey: key))
            if count != 32 {
                #expect(!Ed25519.isValid(signature: signature, of: [], publicKey: bytes))
                #expect(Ed25519.publicKey(ofSeed: bytes) == nil && Ed25519.signature(of: [], seed: bytes) == nil)
            }
        }
    }
}

/// Public test data beside the package, which is never copied into it.
enum SharedFile {
    static func bytes(_ name: String) -> [UInt8]? {
        let folder: String
        if let named = getenv("PINTLE_SHARED_DATA"), named.pointee != 0 {
            folder = String(cString: named)
        } else {
            folder = #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" } + "/shared/data"
        }
        return try? runProcess(["cat", "\(folder)/\(name)"]).stdout.nonEmpty
    }
}

extension [UInt8] {
    fileprivate var nonEmpty: [UInt8]? { isEmpty ? nil : self }
}
