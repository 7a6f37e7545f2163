extension CertificateTemplate {
    /// A subject or issuer (RFC 5280 section 4.1.2.4): a sequence of sets of attributes, possibly empty.
    package struct DistinguishedName: Sendable, Hashable, ExpressibleByArrayLiteral {
        /// One attribute: a type and a string.
        package struct Attribute: Sendable, Hashable {
            package var type: DERWriter.OID
            /// The whole element of the value, tag included.
            package var valueDER: [UInt8]

            /// Makes an attribute with any element as its value.
            package init(_ type: DERWriter.OID, valueDER: [UInt8]) {
                self.type = type
                self.valueDER = valueDER
            }

            /// Makes an attribute with a UTF8String. The text may have control characters, bidirectional overrides and
            /// any length.
            package init(_ type: DERWriter.OID, _ text: String) {
                self.init(type, valueDER: DERWriter.encode { $0.utf8String(text) })
            }

            package static func commonName(_ text: String) -> Attribute { Attribute(.commonName, text) }
            package static func organization(_ text: String) -> Attribute { Attribute(.organizationName, text) }
            package static func organizationalUnit(_ text: String) -> Attribute {
                Attribute(.organizationalUnitName, text)
            }
            /// Returns a country of two letters, as the PrintableString that RFC 5280 demands.
            package static func country(_ text: String) -> Attribute {
                Attribute(.countryName, valueDER: DERWriter.encode { $0.printableString(text) })
            }
        }

        /// The RDNs from the most general to the most specific, nearly always with one attribute each.
        package var relativeNames: [[Attribute]]

        package init(relativeNames: [[Attribute]]) {
            self.relativeNames = relativeNames
        }

        /// Makes a name with one attribute in each RDN.
        package init(arrayLiteral attributes: Attribute...) {
            relativeNames = attributes.map { [$0] }
        }

        /// A name without any RDN.
        package static let empty = DistinguishedName(relativeNames: [])

        /// Returns a name with only a common name.
        package static func commonName(_ text: String) -> DistinguishedName {
            DistinguishedName(relativeNames: [[.commonName(text)]])
        }

        package var isEmpty: Bool { relativeNames.isEmpty }

        /// The Name, DER.
        package var der: [UInt8] {
            DERWriter.encode { write(to: &$0) }
        }

        func write(to der: inout DERWriter) {
            der.sequence { der in
                for attributes in relativeNames {
                    der.set { der in
                        for attribute in attributes {
                            der.sequence { der in
                                der.oid(attribute.type)
                                der.raw(attribute.valueDER)
                            }
                        }
                    }
                }
            }
        }
    }
}
