/// An extension: its type, whether it is critical, and the DER inside its OCTET STRING.
package struct CertificateExtension: Sendable, Hashable {
    package var oid: DERWriter.OID
    package var isCritical: Bool
    package var value: [UInt8]

    /// Makes an extension with any bytes as its value.
    package init(_ oid: DERWriter.OID, critical: Bool = false, value: [UInt8]) {
        self.oid = oid
        isCritical = critical
        self.value = value
    }

    /// Makes an extension with the value that `body` writes.
    package init(_ oid: DERWriter.OID, critical: Bool = false, _ body: (inout DERWriter) -> Void) {
        self.init(oid, critical: critical, value: DERWriter.encode(body))
    }

    func write(to der: inout DERWriter) {
        der.sequence { der in
            der.oid(oid)
            if isCritical { der.boolean(true) }
            der.octetString(value)
        }
    }
}

/// The extensions of RFC 5280, section by section.
extension CertificateExtension {
    /// Section 4.2.1.9.
    package static func basicConstraints(
        ca: Bool, pathLength: Int? = nil, critical: Bool = true
    ) -> CertificateExtension {
        CertificateExtension(.basicConstraints, critical: critical) { der in
            der.sequence { der in
                if ca { der.boolean(true) }
                if let pathLength { der.integer(pathLength) }
            }
        }
    }

    /// Section 4.2.1.3.
    package static func keyUsage(_ usage: CertificateTemplate.KeyUsage, critical: Bool = true) -> CertificateExtension {
        CertificateExtension(.keyUsage, critical: critical) { usage.write(to: &$0) }
    }

    /// Section 4.2.1.12.
    package static func extendedKeyUsage(_ purposes: [DERWriter.OID], critical: Bool = false) -> CertificateExtension {
        CertificateExtension(.extendedKeyUsage, critical: critical) { der in
            der.sequence { der in
                for purpose in purposes { der.oid(purpose) }
            }
        }
    }

    /// Section 4.2.1.6.
    package static func subjectAltName(_ names: [CertificateTemplate.GeneralName], critical: Bool = false)
        -> CertificateExtension
    {
        CertificateExtension(.subjectAltName, critical: critical) { der in
            der.sequence { der in
                for name in names { name.write(to: &der) }
            }
        }
    }

    /// Section 4.2.1.10. A `dns` base is written unchanged, with or without a leading dot.
    package static func nameConstraints(
        permitted: [CertificateTemplate.GeneralName] = [], excluded: [CertificateTemplate.GeneralName] = [],
        critical: Bool = true
    ) -> CertificateExtension {
        CertificateExtension(.nameConstraints, critical: critical) { der in
            der.sequence { der in
                for (number, names) in [(UInt8(0), permitted), (1, excluded)] where !names.isEmpty {
                    der.context(number) { der in
                        for name in names {
                            der.sequence { name.write(to: &$0) }
                        }
                    }
                }
            }
        }
    }

    /// Section 4.2.1.2.
    package static func subjectKeyIdentifier(_ identifier: [UInt8], critical: Bool = false) -> CertificateExtension {
        CertificateExtension(.subjectKeyIdentifier, critical: critical) { $0.octetString(identifier) }
    }

    /// Section 4.2.1.1. `serial` is the content of the INTEGER.
    package static func authorityKeyIdentifier(
        _ identifier: [UInt8]?, issuer: CertificateTemplate.DistinguishedName? = nil, serial: [UInt8]? = nil,
        critical: Bool = false
    ) -> CertificateExtension {
        CertificateExtension(.authorityKeyIdentifier, critical: critical) { der in
            der.sequence { der in
                if let identifier { der.context(0, .primitive, content: identifier) }
                if let issuer { der.context(1) { CertificateTemplate.GeneralName.directory(issuer).write(to: &$0) } }
                if let serial { der.context(2, .primitive, content: serial) }
            }
        }
    }

    /// Section 4.2.2.1.
    package static func authorityInfoAccess(
        ocsp: [CertificateTemplate.GeneralName] = [], caIssuers: [CertificateTemplate.GeneralName] = [],
        critical: Bool = false
    ) -> CertificateExtension {
        CertificateExtension(.authorityInfoAccess, critical: critical) { der in
            der.sequence { der in
                for (method, locations) in [(DERWriter.OID.ocspAccess, ocsp), (.caIssuersAccess, caIssuers)] {
                    for location in locations {
                        der.sequence { der in
                            der.oid(method)
                            location.write(to: &der)
                        }
                    }
                }
            }
        }
    }

    /// Section 4.2.1.4.
    package static func certificatePolicies(_ policies: [DERWriter.OID], critical: Bool = false) -> CertificateExtension
    {
        CertificateExtension(.certificatePolicies, critical: critical) { der in
            der.sequence { der in
                for policy in policies {
                    der.sequence { $0.oid(policy) }
                }
            }
        }
    }

    /// Section 4.2.1.5. The first policy of a pair is the issuer's.
    package static func policyMappings(
        _ pairs: [(DERWriter.OID, DERWriter.OID)], critical: Bool = true
    ) -> CertificateExtension {
        CertificateExtension(.policyMappings, critical: critical) { der in
            der.sequence { der in
                for (issuers, subjects) in pairs {
                    der.sequence { der in
                        der.oid(issuers)
                        der.oid(subjects)
                    }
                }
            }
        }
    }

    /// Section 4.2.1.11.
    package static func policyConstraints(
        requireExplicitPolicy: Int? = nil, inhibitPolicyMapping: Int? = nil, critical: Bool = true
    ) -> CertificateExtension {
        CertificateExtension(.policyConstraints, critical: critical) { der in
            der.sequence { der in
                for (number, count) in [(UInt8(0), requireExplicitPolicy), (1, inhibitPolicyMapping)] {
                    guard let count else { continue }
                    // IMPLICIT INTEGER: certificates skipped, a small number.
                    der.context(number, .primitive, content: [UInt8(clamping: min(count, 127))])
                }
            }
        }
    }

    /// Section 4.2.1.14.
    package static func inhibitAnyPolicy(skipping count: Int, critical: Bool = true) -> CertificateExtension {
        CertificateExtension(.inhibitAnyPolicy, critical: critical) { $0.integer(count) }
    }
}
