@testable import Pintle

/// A parsed date is printed as the same second, and the printed form parses to itself.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    guard let date = try? RFC3339.date(from: input) else { return 0 }
    let written = RFC3339.string(from: date)
    // With an offset, these dates can lie in a UTC year below 0 or above 9999, which cannot be printed.
    if input.hasPrefix("0000-01-01") || input.hasPrefix("9999-12-31") { return 0 }
    guard let again = try? RFC3339.date(from: written) else { fatalError("\(written) is not read") }
    let lost = date.timeIntervalSince(again)
    guard lost >= 0, lost < 1, RFC3339.string(from: again) == written else { fatalError("\(written) is another time") }
    return 0
}
