@testable import Pintle

/// A pin that is parsed from any notation is printed in one notation, which parses to the same pin.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    if let pin = try? PublicKeyPin(text) {
        guard (try? PublicKeyPin(pin.description)) == pin else { fatalError("\(pin) reads as something else") }
    }
    if let pin = try? CertificatePin(text) {
        guard (try? CertificatePin(pin.description)) == pin else { fatalError("\(pin) reads as something else") }
    }
    // Any 32 bytes are a pin that can be printed and parsed, except the hash of empty input.
    let digest = CertificatePin(certificate: Array(text.utf8))
    guard count == 0 || (try? PublicKeyPin("sha256/" + Pintle.Base64.encode(digest.bytes)))?.bytes == digest.bytes
    else { fatalError("a hash that cannot be read: \(Pintle.Base64.encode(digest.bytes))") }
    return 0
}
