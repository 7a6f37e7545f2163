import Pintle
import Testing

@Suite("A pin whose base64 begins with a slash")
struct PinSlashTests {
    /// One hash in 64 begins like this.
    static let hash = "/Rlw8cdJwu1SfbMgfiBnaFfNLTu3V4WiZaWtnr9++zE="
    /// The same but for the first character.
    static let twin = "ARlw8cdJwu1SfbMgfiBnaFfNLTu3V4WiZaWtnr9++zE="

    @Test("Every notation reads it as the same pin", arguments: [hash, twin])
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

    @Test("The slash alone does not make up for a character that is missing")
    func missingCharacter() {
        #expect(throws: PinError.self) { try PublicKeyPin("sha256//" + Self.hash.dropFirst(3)) }
    }
}
