@testable import Pintle

/// A date that is read is written as the same second; the written form is a fixed point.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    guard let date = try? RFC3339.date(from: input) else { return 0 }
    let written = RFC3339.string(from: date)
    // An offset can carry the year 0 below 0 and the year 9999 above: no spelling in UTC.
    if input.hasPrefix("0000-01-01") || input.hasPrefix("9999-12-31") { return 0 }
    guard let again = try? RFC3339.date(from: written) else { fatalError("\(written) is not read") }
    let lost = date.timeIntervalSince(again)
    guard lost >= 0, lost < 1, RFC3339.string(from: again) == written else { fatalError("\(written) is another time") }
    return 0
}
