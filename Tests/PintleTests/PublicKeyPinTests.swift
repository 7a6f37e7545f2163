import Testing

@testable import Pintle

@Suite("Public-key pins")
struct PublicKeyPinTests {
    /// The example of RFC 7469 section 2.1.1.
    static let base64 = "d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="
    static let canonical = "sha256/" + base64

    private static func refusal(_ text: String) -> PinError? {
        do throws(PinError) {
            _ = try PublicKeyPin(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Every common notation parses as the same pin, which is printed in one notation",
        arguments: [
            canonical, "sha256//" + base64, base64, "pin-sha256=\"\(base64)\"", "pin-sha256=" + base64,
            "sha256/" + base64.dropLast(), "sha256//" + base64.dropLast(), String(base64.dropLast()),
        ] as [String])
    func notations(_ text: String) throws {
        let pin = try PublicKeyPin(text)
        #expect(pin == (try PublicKeyPin(Self.canonical)))
        #expect(pin.description == Self.canonical)
    }

    @Test("The URL-safe alphabet gives the same pin")
    func urlSafe() throws {
        let standard = "sha256//38lEAVIGBmLdPBCBjgzbI4iCNAvrsWIcCkn+M/rPyk="
        let safe = "sha256/_38lEAVIGBmLdPBCBjgzbI4iCNAvrsWIcCkn-M_rPyk"
        #expect(try PublicKeyPin(safe) == PublicKeyPin("sha256//" + standard.dropFirst(7)))
        #expect(try PublicKeyPin(safe + "=").bytes.count == 32)
    }

    @Test("A hash whose base64 begins with a slash is distinguished from curl's notation, padded or not")
    func leadingSlash() throws {
        let base64 = "/38lEAVIGBmLdPBCBjgzbI4iCNAvrsWIcCkn+M/rPyk="
        let pin = try PublicKeyPin(base64)
        #expect(pin.description == "sha256/" + base64)
        for text in [base64, "sha256/" + base64, "sha256//" + base64, "pin-sha256=\"\(base64)\""] {
            #expect(try PublicKeyPin(text) == pin)
        }
        let twice = [UInt8](repeating: 0xFF, count: 32)
        let slashes = Base64.encode(twice)
        for text in ["sha256/" + slashes, "sha256//" + slashes] {
            #expect(try PublicKeyPin(text).bytes == twice)
            #expect(try PublicKeyPin(text.dropLast()).bytes == twice)
        }
    }

    @Test("A printed pin parses as the same pin", arguments: 0..<4)
    func roundTrip(seed: UInt64) throws {
        var generator = SplitMix64(state: seed)
        for first in UInt8.min...UInt8.max {
            let bytes = [first] + (0..<31).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let base64 = Base64.encode(bytes)
            for text in ["sha256/" + base64, "sha256//" + base64, base64] {
                #expect(try PublicKeyPin(text).bytes == bytes)
                #expect(try PublicKeyPin(text.dropLast()).bytes == bytes)
            }
        }
    }

    @Test(
        "An invalid pin is refused with its code",
        arguments: [
            ("", "invalid-pin"), ("sha256/", "invalid-pin"), ("sha256//", "invalid-pin"),
            ("pin-sha256=", "invalid-pin"), ("pin-sha256=\"\"", "invalid-pin"),
            ("YOUR_BASE64_HASH", "wrong-pin-length"), ("sha256/YOUR BASE64 HASH", "invalid-pin"),
            ("pin-sha256=\"" + base64, "invalid-pin"), (base64 + "\n", "invalid-pin"), (" " + base64, "invalid-pin"),
            (String(base64.dropLast(2)), "invalid-pin"), (base64 + "=", "invalid-pin"),
            (String(repeating: "ab", count: 32), "invalid-pin"),
            ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "empty-input-pin"),
            ("sha1/d6qzRu9zOECb90Uez27xWltNsj0=", "unsupported-hash"),
            ("sha512/" + base64, "unsupported-hash"), ("md5/" + base64, "unsupported-hash"),
            ("d6qzRu9zOECb90Uez27xWltNsj0=", "wrong-pin-length"), ("SHA256/" + base64, "invalid-pin"),
            ("sha256/" + String(repeating: "A", count: 2_000), "invalid-pin"),
            ("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "empty-input-pin"),
            ("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU", "empty-input-pin"),
        ] as [(String, String)])
    func refused(_ text: String, _ code: String) {
        let error = Self.refusal(text)
        #expect(error?.code == code)
        #expect(error?.hint.isEmpty == false)
    }

    @Test("An error names a wrong length, and names SHA-1 for 20 bytes")
    func lengths() {
        let short = Self.refusal("d6qzRu9zOECb90Uez27xWltNsj0=")
        #expect(short?.reason == .wrongLength(20))
        #expect(short?.hint.contains("SHA-1") == true)
        for count in [1, 31, 33, 64] {
            let text = "sha256/" + Base64.encode([UInt8](repeating: 7, count: count))
            #expect(Self.refusal(text)?.reason == .wrongLength(count))
        }
    }

    @Test("A certificate's fingerprint is recognized as one", arguments: ["", ":"])
    func fingerprints(separator: String) {
        let text = (0..<32).map { _ in "aB" }.joined(separator: separator)
        for prefix in ["", "sha256/"] {
            #expect(Self.refusal(prefix + text)?.reason == .fingerprint)
            #expect(Self.refusal(prefix + text)?.hint.contains("\"certificate\"") == true)
            #expect(Self.refusal(prefix + text + separator + "ab")?.reason != .fingerprint)
        }
    }

    @Test("Bits that belong to no byte are an error that shows the correct pin")
    func canonicalBase64() throws {
        for last in ["N", "O", "P"] {
            let error = Self.refusal("sha256/" + Self.base64.dropLast(2) + last + "=")
            guard case .notCanonical(let pin) = error?.reason else {
                #expect(Bool(false), "\(last) was \(String(describing: error))")
                continue
            }
            #expect(pin.description == Self.canonical)
            #expect(error?.hint == "write " + Self.canonical)
        }
        #expect(Self.refusal(Self.canonical) == nil)
    }

    @Test("An error quotes its input, shortened")
    func quoting() {
        #expect(Self.refusal("??")?.text == "??")
        let marks = "e" + String(repeating: "\u{301}", count: 1_000_000)
        let error = Self.refusal(marks)
        #expect((error?.text.utf8.count ?? .max) <= 300)
        #expect(error?.text.hasSuffix("…") == true)
    }

    @Test("A placeholder from examples parses as a pin and is recognized")
    func placeholder() throws {
        let zeros = try PublicKeyPin("sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        #expect(zeros.isPlaceholder)
        #expect(zeros.bytes == [UInt8](repeating: 0, count: 32))
        #expect(try !PublicKeyPin(Self.canonical).isPlaceholder)
        for letter in "ABCXYZabcz0189+/" {
            let text = String(repeating: letter, count: 43) + "="
            guard case .notCanonical(let pin) = Self.refusal(text)?.reason else {
                #expect(try PublicKeyPin(text).isPlaceholder, "\(text)")
                continue
            }
            #expect(pin.isPlaceholder, "\(text)")
            #expect(Self.refusal(text)?.description.contains("a placeholder that examples carry") == true)
            #expect(Self.refusal(text)?.hint.hasPrefix("put the pin of your key") == true)
        }
        // One character differs, at either end.
        for text in ["BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE="] {
            #expect(try !PublicKeyPin(text).isPlaceholder)
        }
    }

    @Test("A whole SubjectPublicKeyInfo is hashed, and raw key bytes are refused")
    func subjectPublicKeyInfo() throws {
        let info = UnsignedCertificate.p256Key(1)
        var certificate = UnsignedCertificate()
        certificate.key = info
        let pin = try PublicKeyPin(subjectPublicKeyInfo: info)
        #expect(try certificate.read().publicKeyPin == pin)
        #expect(try Array(certificate.read().subjectPublicKeyInfo) == info)
        #expect(PublicKeyPin(sliceOf: certificate.der) == pin)
        let raw = Array(info.suffix(65))
        // An uncompressed point begins with 0x04, the tag of an OCTET STRING.
        let wrong: [([UInt8], DERError.Reason)] = [
            (raw, .unexpectedTag), ([], .truncated), (info + [0], .trailingData), (Array(info.dropLast()), .truncated),
            (DERBytes.bitString(raw), .unexpectedTag), (certificate.der, .invalidValue),
        ]
        for (bytes, reason) in wrong {
            let error = DERError.thrown { () throws(DERError) in _ = try PublicKeyPin(subjectPublicKeyInfo: bytes) }
            #expect(error?.reason == reason)
        }
    }

    @Test("The same key in another certificate has the same pin and another fingerprint")
    func renewal() throws {
        let first = try UnsignedCertificate().read()
        var renewed = UnsignedCertificate()
        renewed.serial = DERBytes.integer(0x55)
        renewed.notAfter = DERBytes.utcTime("401231235959Z")
        let second = try renewed.read()
        #expect(first.publicKeyPin == second.publicKeyPin)
        #expect(first.fingerprint != second.fingerprint)
    }
}
