@testable import ForeignClaims
@testable import Pintle
@testable import PintleTools

/// Property lists and network security configurations: what is read makes a policy that reads the same again, and
/// what is not has a place in the file.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    for format in [ForeignFormat.nsc, .ats, .trustkit] { ForeignEntry.check(input, format) }
    return 0
}
