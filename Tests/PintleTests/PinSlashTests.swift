import Pintle
import Testing

@Suite("Pins whose base64 begins with a slash")
struct PinSlashTests {
    /// A hash whose base64 begins with a slash, as one in 64 does.
    static let hash = "/Rlw8cdJwu1SfbMgfiBnaFfNLTu3V4WiZaWtnr9++zE="
    /// The same hash with another first character.
    static let twin = "ARlw8cdJwu1SfbMgfiBnaFfNLTu3V4WiZaWtnr9++zE="

    @Test("Every notation parses as the same pin", arguments: [hash, twin])
    func everyNotation(hash: String) throws {
        let pin = try PublicKeyPin(hash)
        #expect(pin.description == "sha256/" + hash)
        let unpadded = String(hash.dropLast())
        for text in ["sha256/" + hash, "sha256//" + hash, "pin-sha256=\"\(hash)\""] {
            #expect(try PublicKeyPin(text) == pin)
        }
        for text in [unpadded, "sha256/" + unpadded, "sha256//" + unpadded] {
            #expect(try PublicKeyPin(text) == pin)
        }
    }

    @Test("The leading slash does not replace a missing character")
    func missingCharacter() {
        #expect(throws: PinError.self) { try PublicKeyPin("sha256//" + Self.hash.dropFirst(3)) }
    }
}
