import Foundation
import PintleTestKit
import Testing

import struct TestKitOnApple.CertificateSigningRequest
import enum TestKitOnApple.Digest
import struct TestKitOnApple.KeyType
import struct TestKitOnApple.MintingError
import struct TestKitOnApple.PrivateKey
import enum TestKitOnApple.SignatureAlgorithm

/// Keys that CryptoKit makes and OpenSSL reads, and the reverse.
@Suite("Apple: minted keys")
struct MintedKeyTests {
    static let kinds: [TestKitOnApple.KeyType] = [.p256, .p384, .p521, .ed25519]

    private static func pair(
        _ kind: TestKitOnApple.KeyType
    ) throws -> (cryptoKit: TestKitOnApple.PrivateKey, openSSL: PintleTestKit.PrivateKey) {
        let key = try TestKitOnApple.PrivateKey(kind)
        return (key, try PintleTestKit.PrivateKey(pem: key.pem))
    }

    @Test("OpenSSL reads each kind of key and finds the same public key", arguments: kinds)
    func readByOpenSSL(_ kind: TestKitOnApple.KeyType) throws {
        let (key, same) = try Self.pair(kind)
        #expect(same.spkiDER == key.spkiDER && same.publicPEM == key.publicPEM && same.pem == key.pem)
        #expect(same.defaultSignatureAlgorithm?.identifierDER == key.defaultSignatureAlgorithm?.identifierDER)
        #expect(try TestKitOnApple.PrivateKey(pem: same.pem) == key)
        #expect(try TestKitOnApple.PrivateKey(kind) != key)
    }

    @Test("A key of the three curves can also be read in the form of openssl ecparam")
    func traditionalForm() throws {
        for curve in ["prime256v1", "secp384r1", "secp521r1"] {
            let made = try runProcess(["openssl", "ecparam", "-genkey", "-noout", "-name", curve])
            #expect(made.output.contains("BEGIN EC PRIVATE KEY"))
            let spki = try runProcess(["openssl", "pkey", "-pubout", "-outform", "DER"], input: made.stdout)
            #expect(try TestKitOnApple.PrivateKey(pem: made.output).spkiDER == spki.stdout)
        }
    }

    @Test("A key behind its parameters is read, and a file with a broken block before the key is not")
    func otherBlocks() throws {
        let made = try runProcess(["openssl", "ecparam", "-genkey", "-name", "prime256v1"])
        #expect(made.output.hasPrefix("-----BEGIN EC PARAMETERS-----"))
        let spki = try runProcess(["openssl", "pkey", "-pubout", "-outform", "DER"], input: made.stdout)
        #expect(try TestKitOnApple.PrivateKey(pem: made.output).spkiDER == spki.stdout)
        let broken = made.output.replacing("-----END EC PARAMETERS-----", with: "")
        #expect(throws: TestKitOnApple.MintingError.self) { try TestKitOnApple.PrivateKey(pem: broken) }
    }

    @Test("OpenSSL verifies requests of each kind of key and each digest", arguments: kinds)
    func signatures(_ kind: TestKitOnApple.KeyType) throws {
        let key = try TestKitOnApple.PrivateKey(kind)
        let algorithms: [TestKitOnApple.SignatureAlgorithm] =
            kind == .ed25519 ? [.ed25519] : [.ecdsa(.sha1), .ecdsa(.sha256), .ecdsa(.sha384), .ecdsa(.sha512)]
        for algorithm in algorithms {
            let request = try TestKitOnApple.CertificateSigningRequest(
                hosts: ["a.test"], key: key, signatureAlgorithm: algorithm)
            let result = try runProcess(["openssl", "req", "-verify", "-noout"], input: Array(request.pem.utf8))
            #expect(result.errorOutput.contains("verify OK"), "\(algorithm): \(result.errorOutput)")
        }
        let another = try TestKitOnApple.CertificateSigningRequest(hosts: ["a.test"], key: key)
        var damaged = another.der
        damaged[damaged.count - 3] ^= 1
        let refused = try runProcess(["openssl", "req", "-inform", "DER", "-verify", "-noout"], input: damaged)
        #expect(refused.errorOutput.contains("verify failure"))
    }

    @Test("A key cannot sign with the algorithm of another kind, and the error names the possible algorithms")
    func wrongAlgorithm() throws {
        for (kind, algorithm) in [
            (TestKitOnApple.KeyType.p256, TestKitOnApple.SignatureAlgorithm.ed25519), (.ed25519, .ecdsa(.sha256)),
            (.p384, .rsaPKCS1(.sha256)),
        ] {
            let key = try TestKitOnApple.PrivateKey(kind)
            let error = #expect(throws: TestKitOnApple.MintingError.self) { try key.sign([1], with: algorithm) }
            #expect(error?.reason.hasPrefix("this kind of key signs with") == true)
            #expect(try !key.sign([1], with: key.defaultSignatureAlgorithm).isEmpty)
        }
    }

    @Test("A private key of another kind, or text that is not a key, is an error that names the kinds")
    func unreadable() throws {
        let rsa = try PintleTestKit.PrivateKey(.rsa2048).pem
        let koblitz = try PintleTestKit.PrivateKey(.secp256k1).pem
        let own = try TestKitOnApple.PrivateKey().pem
        let lines = own.split(separator: "\n")
        for pem in [rsa, koblitz, "", "no key", String(lines[0]), lines.dropLast().joined(separator: "\n")] {
            let error = #expect(throws: TestKitOnApple.MintingError.self) { try TestKitOnApple.PrivateKey(pem: pem) }
            #expect(error?.operation == "reading a private key from PEM" && error?.reason.contains("P-384") == true)
        }
        #expect(try TestKitOnApple.PrivateKey(pem: "a comment\r\n" + own).pem == own)
    }
}
