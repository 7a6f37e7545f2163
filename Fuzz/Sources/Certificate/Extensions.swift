import COpenSSL

@testable import Pintle

/// Returns `nil` if libcrypto does not find the extension, finds it twice, or cannot parse it.
private func decoded(_ certificate: OpaquePointer, _ identifier: CInt) -> UnsafeMutableRawPointer? {
    X509_get_ext_d2i(certificate, identifier, nil, nil)
}

func compareExtensions(_ ours: Pintle.Certificate, _ theirs: OpaquePointer) {
    if let raw = decoded(theirs, NID_basic_constraints) {
        let constraints = raw.assumingMemoryBound(to: BASIC_CONSTRAINTS.self)
        defer { BASIC_CONSTRAINTS_free(constraints) }
        agree("cA", ours.basicConstraints?.isCA, constraints.pointee.ca != 0)
        let length = constraints.pointee.pathlen.map { ASN1_INTEGER_get($0) }
        agree("pathLenConstraint", ours.basicConstraints?.pathLength, .some(length))
    }
    if let raw = decoded(theirs, NID_key_usage) {
        let bits = raw.assumingMemoryBound(to: ASN1_BIT_STRING.self)
        defer { ASN1_BIT_STRING_free(bits) }
        for bit in 0..<9 {
            let isSet = (ours.keyUsage?.rawValue ?? 0) & (0x8000 >> UInt16(bit)) != 0
            agree("keyUsage", isSet, ASN1_BIT_STRING_get_bit(bits, CInt(bit)) == 1)
        }
    }
    if let purposes = decoded(theirs, NID_ext_key_usage).map({ OpaquePointer($0) }) {
        defer { EXTENDED_KEY_USAGE_free(purposes) }
        agree("extKeyUsage", ours.extendedKeyUsage?.purposes.count, Int(OPENSSL_sk_num(purposes)))
    }
    if let names = decoded(theirs, NID_subject_alt_name).map({ OpaquePointer($0) }) {
        defer { GENERAL_NAMES_free(names) }
        agree("subjectAltName", ours.subjectAlternativeNames?.count, Int(OPENSSL_sk_num(names)))
        for (index, name) in (ours.subjectAlternativeNames ?? []).enumerated() {
            guard let raw = OPENSSL_sk_value(names, CInt(index)) else { fatalError("a name without a twin") }
            compare(name, raw.assumingMemoryBound(to: GENERAL_NAME.self).pointee)
        }
    }
}

private func compare(_ ours: GeneralName, _ theirs: GENERAL_NAME) {
    switch ours {
    case .email(let octets): compare(octets, theirs, GEN_EMAIL)
    case .dns(let octets): compare(octets, theirs, GEN_DNS)
    case .uri(let octets): compare(octets, theirs, GEN_URI)
    case .ipAddress(let octets): compare(octets, theirs, GEN_IPADD)
    case .directoryName: agree("kind of name", GEN_DIRNAME, theirs.type)
    case .other(let tag, _): agree("kind of name", CInt(tag), theirs.type)
    }
}

private func compare(_ octets: ArraySlice<UInt8>, _ theirs: GENERAL_NAME, _ kind: CInt) {
    agree("kind of name", kind, theirs.type)
    let text = theirs.d.ia5
    let bytes = UnsafeBufferPointer(start: ASN1_STRING_get0_data(text), count: Int(ASN1_STRING_length(text)))
    agree("name", Array(octets), Array(bytes))
}
