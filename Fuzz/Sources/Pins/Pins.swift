@testable import Pintle

/// A pin that is read, in whatever notation, is read again from the one notation that is printed.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    if let pin = try? PublicKeyPin(text) {
        guard (try? PublicKeyPin(pin.description)) == pin else { fatalError("\(pin) reads as something else") }
    }
    if let pin = try? CertificatePin(text) {
        guard (try? CertificatePin(pin.description)) == pin else { fatalError("\(pin) reads as something else") }
    }
    // Any 32 bytes make a pin that can be printed and read, but for the hash of nothing.
    let digest = CertificatePin(certificate: Array(text.utf8))
    guard count == 0 || (try? PublicKeyPin("sha256/" + Pintle.Base64.encode(digest.bytes)))?.bytes == digest.bytes
    else { fatalError("a hash that cannot be read: \(Pintle.Base64.encode(digest.bytes))") }
    return 0
}
