@testable import ForeignClaims
@testable import Pintle
@testable import PintlePolicyTools

/// Property lists and Android's network security configurations. A parsed file gives a policy that can be printed and
/// parsed again. A parse error has a place in the file.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    for format in [ForeignFormat.nsc, .ats, .trustkit] { ForeignEntry.check(input, format) }
    return 0
}
