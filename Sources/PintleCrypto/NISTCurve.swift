#if PINTLE_APPLE
internal import CryptoKit
#else
internal import COpenSSL
#endif

/// The curves of NIST that keys of servers may be on (FIPS 186-4).
package enum NISTCurve: Sendable {
    case p256, p384, p521

    /// The size of a coordinate in bytes.
    private var fieldSize: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// Returns whether the bytes encode a point of the curve, compressed or not (SEC 1 section 2.3.3). The point at
    /// infinity and the hybrid form of X9.62 are not accepted (RFC 5480 section 2.2).
    ///
    /// CryptoKit decompresses points only since iOS 16, so on Apple's systems the length of a compressed one suffices.
    package func hasPoint(_ encoding: [UInt8]) -> Bool {
        switch encoding.first {
        case 0x04: encoding.count == 1 + 2 * fieldSize && decodes(encoding)
        case 0x02, 0x03: encoding.count == 1 + fieldSize && decodes(encoding)
        default: false
        }
    }

    #if PINTLE_APPLE
    private func decodes(_ encoding: [UInt8]) -> Bool {
        guard encoding[0] == 0x04 else { return true }
        return switch self {
        case .p256: (try? P256.Signing.PublicKey(x963Representation: encoding)) != nil
        case .p384: (try? P384.Signing.PublicKey(x963Representation: encoding)) != nil
        case .p521: (try? P521.Signing.PublicKey(x963Representation: encoding)) != nil
        }
    }
    #else
    private func decodes(_ encoding: [UInt8]) -> Bool {
        let group =
            switch self {
            case .p256: Group.p256
            case .p384: Group.p384
            case .p521: Group.p521
            }
        guard let group = group.pointer, let point = EC_POINT_new(group) else { return false }
        defer { EC_POINT_free(point) }
        // Fails unless the point is on the curve.
        guard EC_POINT_oct2point(group, point, encoding, encoding.count, nil) == 1 else {
            ERR_clear_error()
            return false
        }
        return true
    }

    /// An `EC_GROUP *` of OpenSSL, made once, because that takes longer than the check of a point.
    ///
    /// `@unchecked`: the pointer never changes, and OpenSSL only reads the group.
    private struct Group: @unchecked Sendable {
        let pointer: OpaquePointer?

        static let p256 = Group(pointer: EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1))
        static let p384 = Group(pointer: EC_GROUP_new_by_curve_name(NID_secp384r1))
        static let p521 = Group(pointer: EC_GROUP_new_by_curve_name(NID_secp521r1))
    }
    #endif
}
