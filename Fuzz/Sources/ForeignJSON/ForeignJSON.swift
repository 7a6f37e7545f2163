@testable import ForeignClaims
@testable import Pintle
@testable import PintleTools

/// Envoy's clusters, Chromium's list and its file of keys. A parsed file gives a policy that can be printed and parsed
/// again. A parse error has a place in the file.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    ForeignEntry.check(input, .envoy)
    ForeignEntry.check(input, .chromium, keys: keys)
    do throws(ToolError) {
        let keys = try ChromiumKeys(input)
        guard keys.pins.count <= count else { fatalError("more keys than bytes") }
    } catch {
        guard error.line ?? 1 >= 1 else { fatalError("an error without a place: \(error)") }
    }
    return 0
}

private let keys = try? ChromiumKeys(Array("A\nsha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710=\n".utf8))
