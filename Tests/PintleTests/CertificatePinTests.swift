import Testing

@testable import Pintle

@Suite("Certificate pins")
struct CertificatePinTests {
    static let hex = "a3b1c2d4e5f60718293a4b5c6d7e8f90a3b1c2d4e5f60718293a4b5c6d7e8f90"
    static let colons =
        "A3:B1:C2:D4:E5:F6:07:18:29:3A:4B:5C:6D:7E:8F:90:A3:B1:C2:D4:E5:F6:07:18:29:3A:4B:5C:6D:7E:8F:90"

    /// The fingerprint as browsers show it.
    static let twoRows = String(colons.prefix(47)) + "\n" + String(colons.suffix(47))

    private static func refusal(_ text: String) -> PinError? {
        do throws(PinError) {
            _ = try CertificatePin(text)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "The notations of openssl and browsers parse as one fingerprint with one output form",
        arguments: [
            hex, hex.uppercased(), colons, colons.lowercased(), colons.replacingText(":", with: " "),
            "sha256 Fingerprint=" + colons, "SHA256 Fingerprint=" + colons, "  \(hex)\n",
            twoRows, twoRows.replacingText(":", with: " "), twoRows.replacingText("\n", with: "\r\n    "),
            "SHA256: " + colons, "\t SHA256: \(colons)", "SHA-256: " + colons, "sha256:" + hex,
            "SHA-256 Fingerprint: " + colons, "SHA256 Fingerprint\n" + twoRows, "SHA-256 " + hex.uppercased(),
            "\u{200E}" + hex,
        ] as [String])
    func notations(_ text: String) throws {
        #expect(try CertificatePin(text).description == Self.hex)
    }

    @Test("A fingerprint is shown with colons, or in two rows of sixteen bytes")
    func rows() throws {
        let rows = try CertificatePin(Self.hex).rows
        #expect(rows.0 + ":" + rows.1 == Self.colons)
        #expect(try CertificatePin(Self.hex).colons == Self.colons)
        #expect(rows.0.utf8.count == 47)
    }

    @Test(
        "An invalid fingerprint is refused with its code",
        arguments: [
            ("", "invalid-pin"), ("  ", "invalid-pin"), ("sha256 Fingerprint=", "invalid-pin"),
            (PublicKeyPinTests.canonical, "invalid-pin"), (PublicKeyPinTests.base64, "invalid-pin"),
            (String(hex.dropLast()), "invalid-pin"), (String(hex.dropLast(2)), "wrong-pin-length"),
            (hex + "00", "wrong-pin-length"), (String(hex.prefix(40)), "wrong-pin-length"),
            ("sha256" + hex, "invalid-pin"), ("sha2560:" + hex, "invalid-pin"), ("sha512:" + hex, "invalid-pin"),
            ("sha256/" + hex, "invalid-pin"), ("SHA256:: " + hex, "invalid-pin"), ("SHA-256:", "invalid-pin"),
            ("fingerprint=" + hex, "invalid-pin"),
            ("0x" + hex, "invalid-pin"), ("sha1 Fingerprint=" + hex.prefix(40), "invalid-pin"),
            (String(repeating: "a", count: 2_000), "invalid-pin"),
            ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "empty-input-pin"),
        ] as [(String, String)])
    func refused(_ text: String, _ code: String) {
        #expect(Self.refusal(text)?.code == code)
        #expect(Self.refusal(Self.hex) == nil)
    }

    @Test("A public-key pin given as a fingerprint gets a hint about the correct form")
    func base64() {
        let error = Self.refusal(PublicKeyPinTests.canonical)
        #expect(error?.reason == .notHexadecimal)
        #expect(error?.hint.contains("64 hexadecimal digits") == true)
    }

    @Test("Pins with different positions are different pins")
    func positions() throws {
        let leaf = try Pin.certificate(Self.hex, at: .leaf)
        #expect(leaf != (try Pin.certificate(Self.colons)))
        #expect(leaf == (try Pin.certificate(Self.colons, at: .leaf)))
        #expect(leaf.description == Self.hex)
        // A key and a certificate with the same hash are different pins.
        let digest = try CertificatePin(Self.hex).digest
        #expect(Pin(.publicKey(PublicKeyPin(digest: digest))) != Pin(.certificate(CertificatePin(digest: digest))))
    }
}
