/// A hash function to sign with.
package enum Digest: String, Sendable, Hashable, CaseIterable {
    case md5, sha1, sha256, sha384, sha512

    var byteCount: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    fileprivate var oid: DERWriter.OID {
        switch self {
        case .md5: [1, 2, 840, 113_549, 2, 5]
        case .sha1: [1, 3, 14, 3, 2, 26]
        case .sha256: [2, 16, 840, 1, 101, 3, 4, 2, 1]
        case .sha384: [2, 16, 840, 1, 101, 3, 4, 2, 2]
        case .sha512: [2, 16, 840, 1, 101, 3, 4, 2, 3]
        }
    }
}

/// A parameter set of ML-DSA (FIPS 204). The raw values are OpenSSL's names.
package enum MLDSA: String, Sendable, Hashable, CaseIterable {
    case size44 = "ML-DSA-44"
    case size65 = "ML-DSA-65"
    case size87 = "ML-DSA-87"

    fileprivate var oid: DERWriter.OID {
        switch self {
        case .size44: [2, 16, 840, 1, 101, 3, 4, 3, 17]
        case .size65: [2, 16, 840, 1, 101, 3, 4, 3, 18]
        case .size87: [2, 16, 840, 1, 101, 3, 4, 3, 19]
        }
    }
}

/// A signature algorithm: the identifier in the certificate, and the computation.
package enum SignatureAlgorithm: Sendable, Hashable {
    /// RSASSA-PKCS1-v1_5 (RFC 4055 section 5).
    case rsaPKCS1(Digest)
    /// RSASSA-PSS with MGF1 of the same digest and a salt of the digest's length (RFC 4055 section 3).
    case rsaPSS(Digest)
    /// ECDSA (RFC 5758 section 3.2). No identifier exists for MD5.
    case ecdsa(Digest)
    /// DSA with SHA-1 or SHA-256 (RFC 5758 section 3.1).
    case dsa(Digest)
    case ed25519
    case ed448
    /// Pure ML-DSA with an empty context (RFC 9881 section 2).
    case mlDSA(MLDSA)

    /// AlgorithmIdentifier, DER. A combination without a registered identifier gets an OID in the arc of examples,
    /// `2.999`.
    package var identifierDER: [UInt8] {
        DERWriter.encode { der in
            der.sequence { der in
                switch self {
                case .rsaPKCS1(let digest):
                    der.oid([1, 2, 840, 113_549, 1, 1, SignatureAlgorithm.pkcs1Arc(digest)])
                    der.null()
                case .rsaPSS(let digest):
                    der.oid([1, 2, 840, 113_549, 1, 1, 10])
                    SignatureAlgorithm.writePSSParameters(digest, to: &der)
                case .ecdsa(let digest): der.oid(SignatureAlgorithm.ecdsaOID(digest))
                case .dsa(.sha1): der.oid([1, 2, 840, 10_040, 4, 3])
                case .dsa(.sha256): der.oid([2, 16, 840, 1, 101, 3, 4, 3, 2])
                case .dsa: der.oid([2, 999])
                case .ed25519: der.oid([1, 3, 101, 112])
                case .ed448: der.oid([1, 3, 101, 113])
                case .mlDSA(let size): der.oid(size.oid)
                }
            }
        }
    }

    var digest: Digest? {
        switch self {
        case .rsaPKCS1(let digest), .rsaPSS(let digest), .ecdsa(let digest), .dsa(let digest): digest
        case .ed25519, .ed448, .mlDSA: nil
        }
    }

    private static func pkcs1Arc(_ digest: Digest) -> UInt64 {
        switch digest {
        case .md5: 4
        case .sha1: 5
        case .sha256: 11
        case .sha384: 12
        case .sha512: 13
        }
    }

    private static func ecdsaOID(_ digest: Digest) -> DERWriter.OID {
        switch digest {
        case .md5: [2, 999]
        case .sha1: [1, 2, 840, 10_045, 4, 1]
        case .sha256: [1, 2, 840, 10_045, 4, 3, 2]
        case .sha384: [1, 2, 840, 10_045, 4, 3, 3]
        case .sha512: [1, 2, 840, 10_045, 4, 3, 4]
        }
    }

    private static func writePSSParameters(_ digest: Digest, to der: inout DERWriter) {
        func writeHash(_ der: inout DERWriter) {
            der.sequence { der in
                der.oid(digest.oid)
                der.null()
            }
        }
        der.sequence { der in
            der.context(0) { writeHash(&$0) }
            der.context(1) { der in
                der.sequence { der in
                    der.oid([1, 2, 840, 113_549, 1, 1, 8])
                    writeHash(&der)
                }
            }
            der.context(2) { $0.integer(digest.byteCount) }
        }
    }
}
