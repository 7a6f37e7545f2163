@testable import ForeignClaims
@testable import Pintle
@testable import PintleTools

/// Kotlin, Java, Swift and shell command lines. A parsed file gives a policy that can be printed and parsed again. A
/// parse error has a place in the file.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    for format in [ForeignFormat.okhttp, .trustkit, .curl] { ForeignEntry.check(input, format) }
    return 0
}
