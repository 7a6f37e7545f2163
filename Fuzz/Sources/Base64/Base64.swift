@testable import Pintle

/// Base64 and hexadecimal have one notation in each form: strictly parsed text is printed unchanged.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let text = String(decoding: input, as: UTF8.self)
    if let decoded = try? Pintle.Base64.decode(input, alphabet: .standard, padding: .required) {
        guard Pintle.Base64.encode(decoded) == text else { fatalError("base64 has two spellings") }
    }
    if let decoded = try? Pintle.Base64.decode(input, alphabet: .urlSafe, padding: .optional) {
        let isPadded = input.last == UInt8(ascii: "=")
        guard Pintle.Base64.encode(decoded, alphabet: .urlSafe, padded: isPadded) == text else {
            fatalError("url-safe base64 has two spellings")
        }
    }
    if let decoded = try? Hex.decode(text, allowingSeparators: true) {
        guard (try? Hex.decode(Hex.encode(decoded, separator: ":"), allowingSeparators: true)) == decoded else {
            fatalError("hexadecimal digits read differently after writing")
        }
    }
    guard (try? Pintle.Base64.decode(Pintle.Base64.encode(input))) == input else { fatalError("base64 loses bytes") }
    return 0
}
