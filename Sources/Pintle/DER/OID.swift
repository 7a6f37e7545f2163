/// An OBJECT IDENTIFIER, stored as its content octets (X.690 section 8.19).
package struct OID: Sendable, Hashable {
    let octets: [UInt8]

    init(octets: [UInt8]) {
        self.octets = octets
    }

    /// Copies the contents of an element that the caller has checked with `checkObjectIdentifier`.
    init(_ element: DERElement, in bytes: [UInt8]) {
        octets = Array(bytes[element.contents])
    }
}

extension OID: CustomStringConvertible {
    /// The dotted decimal notation. An arc that does not fit 64 bits is written as `?`.
    package var description: String {
        var arcs: [String] = []
        var value: UInt64 = 0
        var overflows = false
        for octet in octets {
            overflows = overflows || value >> 57 != 0
            value = value << 7 | UInt64(octet & 0x7F)
            guard octet < 0x80 else { continue }
            if arcs.isEmpty && !overflows {
                let first = min(value / 40, 2)
                arcs.append("\(first)")
                arcs.append("\(value - first * 40)")
            } else {
                arcs.append(overflows ? "?" : "\(value)")
            }
            value = 0
            overflows = false
        }
        return arcs.joined(separator: ".")
    }
}

extension DERElement {
    /// Returns whether this element is the given object identifier.
    func holds(_ identifier: OID, in bytes: [UInt8]) -> Bool {
        tag == DERTag.objectIdentifier && bytes[contents] == identifier.octets[...]
    }
}

extension OID {
    /// A name attribute: RFC 2985 section 5.2.1.
    static let emailAddress = OID(octets: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01])

    /// An alternative name: RFC 9598 section 3.
    static let smtpUTF8Mailbox = OID(octets: [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x08, 0x09])

    // Public-key algorithms and curves: RFC 3279, RFC 4055, RFC 5480, RFC 8410, RFC 9881.
    static let rsaEncryption = OID(octets: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01])
    static let rsassaPSS = OID(octets: [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A])
    static let ecPublicKey = OID(octets: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01])
    static let ecDH = OID(octets: [0x2B, 0x81, 0x04, 0x01, 0x0C])
    static let ecMQV = OID(octets: [0x2B, 0x81, 0x04, 0x01, 0x0D])
    /// SM2 (GM/T 0006), an EC algorithm with its own object identifier.
    static let sm2 = OID(octets: [0x2A, 0x81, 0x1C, 0xCF, 0x55, 0x01, 0x82, 0x2D])
    static let dsa = OID(octets: [0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x01])
    static let ed25519 = OID(octets: [0x2B, 0x65, 0x70])
    static let ed448 = OID(octets: [0x2B, 0x65, 0x71])
    static let mlDSA44 = OID(octets: [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x11])
    static let mlDSA65 = OID(octets: [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x12])
    static let mlDSA87 = OID(octets: [0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x13])
    static let p256 = OID(octets: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07])
    static let p384 = OID(octets: [0x2B, 0x81, 0x04, 0x00, 0x22])
    static let p521 = OID(octets: [0x2B, 0x81, 0x04, 0x00, 0x23])

    // Extensions: RFC 5280 section 4.2. All but authorityInfoAccess are id-ce (2.5.29).
    static let subjectKeyIdentifier = OID(octets: [0x55, 0x1D, 0x0E])
    static let keyUsage = OID(octets: [0x55, 0x1D, 0x0F])
    static let subjectAltName = OID(octets: [0x55, 0x1D, 0x11])
    static let basicConstraints = OID(octets: [0x55, 0x1D, 0x13])
    static let nameConstraints = OID(octets: [0x55, 0x1D, 0x1E])
    static let certificatePolicies = OID(octets: [0x55, 0x1D, 0x20])
    static let anyPolicy = OID(octets: [0x55, 0x1D, 0x20, 0x00])
    static let policyMappings = OID(octets: [0x55, 0x1D, 0x21])
    static let authorityKeyIdentifier = OID(octets: [0x55, 0x1D, 0x23])
    static let policyConstraints = OID(octets: [0x55, 0x1D, 0x24])
    static let extendedKeyUsage = OID(octets: [0x55, 0x1D, 0x25])
    static let inhibitAnyPolicy = OID(octets: [0x55, 0x1D, 0x36])
    static let authorityInfoAccess = OID(octets: [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x01, 0x01])

    // Qualifiers of certificate policies: RFC 5280 section 4.2.1.4.
    static let certificationPracticeStatement = OID(octets: [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x02, 0x01])
    static let userNotice = OID(octets: [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x02, 0x02])

    // Extended key usages: RFC 5280 section 4.2.1.12.
    static let serverAuth = OID(octets: [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01])
    static let anyExtendedKeyUsage = OID(octets: [0x55, 0x1D, 0x25, 0x00])
}
