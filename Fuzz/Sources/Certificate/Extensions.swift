import COpenSSL

@testable import Pintle

/// Returns `nil` if libcrypto does not find the extension, finds it twice, or cannot parse it.
private func decoded(_ certificate: OpaquePointer, _ identifier: CInt) -> UnsafeMutableRawPointer? {
    X509_get_ext_d2i(certificate, identifier, nil, nil)
}

private func free(_ item: UnsafeMutableRawPointer, _ identifier: CInt) {
    switch identifier {
    case NID_authority_key_identifier: AUTHORITY_KEYID_free(item.assumingMemoryBound(to: AUTHORITY_KEYID.self))
    case NID_subject_key_identifier: ASN1_OCTET_STRING_free(item.assumingMemoryBound(to: ASN1_OCTET_STRING.self))
    case NID_policy_constraints: POLICY_CONSTRAINTS_free(item.assumingMemoryBound(to: POLICY_CONSTRAINTS.self))
    case NID_inhibit_any_policy: ASN1_INTEGER_free(item.assumingMemoryBound(to: ASN1_INTEGER.self))
    default:
        OPENSSL_sk_pop_free(OpaquePointer(item)) {
            POLICY_MAPPING_free($0?.assumingMemoryBound(to: POLICY_MAPPING.self))
        }
    }
}

/// libcrypto must also read what the core reads, or would ignore it. Its policies may have a qualifier that it refuses.
private func checkSyntax(_ ours: Pintle.Certificate, _ theirs: OpaquePointer) {
    let identifiers: [(ExtensionSyntax, CInt)] = [
        (.authorityKeyIdentifier, NID_authority_key_identifier), (.subjectKeyIdentifier, NID_subject_key_identifier),
        (.policyMappings, NID_policy_mappings), (.policyConstraints, NID_policy_constraints),
        (.inhibitAnyPolicy, NID_inhibit_any_policy),
    ]
    for syntax in ExtensionSyntax.allCases {
        guard let field = ours.extensionField(syntax.identifier), (try? syntax.check(field, in: ours.der)) != nil,
            let (_, identifier) = identifiers.first(where: { $0.0 == syntax })
        else { continue }
        guard let item = decoded(theirs, identifier) else { fatalError("libcrypto cannot read \(syntax)") }
        free(item, identifier)
    }
}

func compareExtensions(_ ours: Pintle.Certificate, _ theirs: OpaquePointer) {
    checkSyntax(ours, theirs)
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
