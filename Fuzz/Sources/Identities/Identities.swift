import PintleOpenSSL

/// Any bytes as certificates, as a key and as PKCS#12 are an identity or one typed error.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    for password in [nil, "password"] {
        _ = try? ClientIdentity(certificates: input, key: input) { password }
        _ = try? ClientIdentity(pkcs12: input) { password }
    }
    return 0
}
