extension DERWriter {
    /// An object identifier as its arcs: `[2, 5, 4, 3]` is `2.5.4.3`.
    package struct OID: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
        package var arcs: [UInt64]

        package init(_ arcs: [UInt64]) {
            self.arcs = arcs
        }

        package init(arrayLiteral arcs: UInt64...) {
            self.arcs = arcs
        }

        package var description: String {
            arcs.map { String($0) }.joined(separator: ".")
        }

        /// The content octets of the OBJECT IDENTIFIER (X.690 8.19); none for fewer than two arcs,
        /// which makes an element that readers refuse.
        var contentOctets: [UInt8] {
            guard arcs.count >= 2 else { return [] }
            var octets: [UInt8] = []
            for arc in [arcs[0] &* 40 &+ arcs[1]] + arcs.dropFirst(2) {
                var groups: [UInt8] = [UInt8(truncatingIfNeeded: arc & 0x7F)]
                var rest = arc >> 7
                while rest > 0 {
                    groups.append(0x80 | UInt8(truncatingIfNeeded: rest & 0x7F))
                    rest >>= 7
                }
                octets.append(contentsOf: groups.reversed())
            }
            return octets
        }
    }
}

/// Attributes of names (RFC 5280 appendix A.1).
extension DERWriter.OID {
    package static let commonName: Self = [2, 5, 4, 3]
    package static let countryName: Self = [2, 5, 4, 6]
    package static let organizationName: Self = [2, 5, 4, 10]
    package static let organizationalUnitName: Self = [2, 5, 4, 11]
}

/// Extensions (RFC 5280 section 4.2).
extension DERWriter.OID {
    package static let subjectKeyIdentifier: Self = [2, 5, 29, 14]
    package static let keyUsage: Self = [2, 5, 29, 15]
    package static let subjectAltName: Self = [2, 5, 29, 17]
    package static let basicConstraints: Self = [2, 5, 29, 19]
    package static let nameConstraints: Self = [2, 5, 29, 30]
    package static let certificatePolicies: Self = [2, 5, 29, 32]
    package static let authorityKeyIdentifier: Self = [2, 5, 29, 35]
    package static let policyConstraints: Self = [2, 5, 29, 36]
    package static let extendedKeyUsage: Self = [2, 5, 29, 37]
    package static let inhibitAnyPolicy: Self = [2, 5, 29, 54]
    package static let authorityInfoAccess: Self = [1, 3, 6, 1, 5, 5, 7, 1, 1]
}

/// Purposes (RFC 5280 section 4.2.1.12) and access methods (section 4.2.2.1).
extension DERWriter.OID {
    package static let serverAuth: Self = [1, 3, 6, 1, 5, 5, 7, 3, 1]
    package static let clientAuth: Self = [1, 3, 6, 1, 5, 5, 7, 3, 2]
    package static let codeSigning: Self = [1, 3, 6, 1, 5, 5, 7, 3, 3]
    package static let ocspSigning: Self = [1, 3, 6, 1, 5, 5, 7, 3, 9]
    package static let anyExtendedKeyUsage: Self = [2, 5, 29, 37, 0]
    package static let ocspAccess: Self = [1, 3, 6, 1, 5, 5, 7, 48, 1]
    package static let caIssuersAccess: Self = [1, 3, 6, 1, 5, 5, 7, 48, 2]
}
