@testable import Pintle
@testable import PintleOpenSSL

/// A Certificate message for OpenSSL. The first byte of the input chooses the protocol version; the rest is the
/// message. After the guard, no certificate that OpenSSL would parse has an EC key without a named curve. A second run
/// of the guard changes nothing, and the hidden certificates have their original bytes.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let bytes, count > 0 else { return 0 }
    let version: CInt = bytes[0] & 1 == 0 ? 0x0303 : 0x0304
    let sent = Array(UnsafeBufferPointer(start: bytes + 1, count: count - 1))
    var message = sent
    func inspect() -> CertificateMessageGuard.Action? {
        message.withUnsafeMutableBytes { buffer in
            CertificateMessageGuard.inspect(UnsafeRawBufferPointer(buffer), 22, version)
        }
    }
    switch inspect() {
    case nil:
        guard message == sent else { fatalError("changed without a word") }
    case .refused: return 0
    case .hidden(let certificates):
        for (position, der) in certificates {
            guard position > 0, case .unnamedCurve = KeyAlgorithm(ofCertificate: der) else {
                fatalError("hidden without a reason")
            }
        }
        let changed = zip(sent, message).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
        guard changed <= certificates.count else { fatalError("more was changed than hidden") }
        if case .hidden? = inspect() { fatalError("a key that is hidden twice") }
    }
    guard message.first == 11 else { return 0 }
    message.withUnsafeBytes { buffer in
        guard let ranges = try? CertificateMessageGuard.certificates(in: buffer, isTLS13: version == 0x0304) else {
            return
        }
        for range in ranges {
            guard case .decodable = KeyAlgorithm(ofCertificate: Array(buffer[range])) else {
                fatalError("OpenSSL would decode this key")
            }
        }
    }
    return 0
}
