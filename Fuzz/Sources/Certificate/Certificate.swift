import COpenSSL

@testable import Pintle

/// If libcrypto also parses the certificate, both must agree in every field. A refusal by libcrypto is ignored.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let der = Array(UnsafeBufferPointer(start: bytes, count: count))
    guard let ours = try? Pintle.Certificate(der: der) else { return 0 }
    _ = (ours.subject.description, ours.issuer.description, ours.publicKey)

    // The range of the key that pins use must be the key of the parsed certificate.
    guard let short = try? SubjectPublicKeyInfo.range(inCertificate: der), der[short] == ours.subjectPublicKeyInfo
    else { fatalError("two public keys") }

    var cursor = bytes
    guard let theirs = d2i_X509(nil, &cursor, count) else { return 0 }
    defer { X509_free(theirs) }
    let subject = encoded { i2d_X509_NAME(X509_get_subject_name(theirs), $0) }
    let issuer = encoded { i2d_X509_NAME(X509_get_issuer_name(theirs), $0) }
    let serial = encoded { i2d_ASN1_INTEGER(X509_get_serialNumber(theirs), $0) }
    agree("subject", Array(ours.subjectDER), subject)
    agree("issuer", Array(ours.issuerDER), issuer)
    agree("serialNumber", Array(ours.serialNumber), Array(serial.suffix(ours.serialNumber.count)))
    agree("version", ours.version, X509_get_version(theirs) + 1)
    agree("notBefore", ours.validity.notBefore.timeIntervalSince1970, seconds(X509_get0_notBefore(theirs)))
    agree("notAfter", ours.validity.notAfter.timeIntervalSince1970, seconds(X509_get0_notAfter(theirs)))
    compareExtensions(ours, theirs)

    // libcrypto also accepts BER and prints it as DER. That is another key, unless the whole input was DER.
    let key = encoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(theirs), $0) }
    if encoded({ i2d_re_X509_tbs(theirs, $0) }) == Array(der[ours.layout.tbsCertificate]) {
        agree("subjectPublicKeyInfo", Array(ours.subjectPublicKeyInfo), key)
    }
    return 0
}

func agree<Value: Equatable>(_ field: StaticString, _ ours: Value, _ theirs: Value?) {
    guard let theirs, ours != theirs else { return }
    fatalError("\(field): \(ours), libcrypto says \(theirs)")
}

private func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
    let size = encode(nil)
    guard size > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: Int(size)) { buffer, count in
        var cursor = buffer.baseAddress
        count = Int(encode(&cursor))
    }
}

private func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Double? {
    var parts = tm()
    guard ASN1_TIME_to_tm(time, &parts) == 1 else { return nil }
    return Double(timegm(&parts))
}
