extension CertificateTemplate {
    /// A subject or issuer (RFC 5280 section 4.1.2.4): a sequence of sets of attributes, possibly empty.
    public struct DistinguishedName: Sendable, Hashable, ExpressibleByArrayLiteral {
        /// One attribute: a type and a string.
        public struct Attribute: Sendable, Hashable {
            public var type: DERWriter.OID
            /// The whole element of the value, tag included.
            public var valueDER: [UInt8]

            /// An attribute with any element as its value.
            public init(_ type: DERWriter.OID, valueDER: [UInt8]) {
                self.type = type
                self.valueDER = valueDER
            }

            /// An attribute with a UTF8String. Any text goes: control characters, bidirectional
            /// overrides, a thousand letters.
            public init(_ type: DERWriter.OID, _ text: String) {
                self.init(type, valueDER: DERWriter.encode { $0.utf8String(text) })
            }

            public static func commonName(_ text: String) -> Attribute { Attribute(.commonName, text) }
            public static func organization(_ text: String) -> Attribute { Attribute(.organizationName, text) }
            public static func organizationalUnit(_ text: String) -> Attribute {
                Attribute(.organizationalUnitName, text)
            }
            /// Two letters, as the PrintableString that RFC 5280 asks for.
            public static func country(_ text: String) -> Attribute {
                Attribute(.countryName, valueDER: DERWriter.encode { $0.printableString(text) })
            }
        }

        /// From the most general RDN to the most specific; nearly always one attribute in each.
        public var relativeNames: [[Attribute]]

        public init(relativeNames: [[Attribute]]) {
            self.relativeNames = relativeNames
        }

        /// One attribute per RDN.
        public init(arrayLiteral attributes: Attribute...) {
            relativeNames = attributes.map { [$0] }
        }

        /// A name without any RDN.
        public static let empty = DistinguishedName(relativeNames: [])

        /// `CN=text` and nothing else.
        public static func commonName(_ text: String) -> DistinguishedName {
            DistinguishedName(relativeNames: [[.commonName(text)]])
        }

        public var isEmpty: Bool { relativeNames.isEmpty }

        /// The Name, DER.
        public var der: [UInt8] {
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
