/// The syntax of extensions whose values the core does not keep, by their sections of RFC 5280.
///
/// Libraries skip what they cannot read in some of these extensions. A restriction that an authority wrote would then
/// have no effect.
enum ExtensionSyntax: CaseIterable {
    case authorityKeyIdentifier
    case subjectKeyIdentifier
    case certificatePolicies
    case policyMappings
    case policyConstraints
    case inhibitAnyPolicy
    case authorityInfoAccess

    var identifier: OID {
        switch self {
        case .authorityKeyIdentifier: .authorityKeyIdentifier
        case .subjectKeyIdentifier: .subjectKeyIdentifier
        case .certificatePolicies: .certificatePolicies
        case .policyMappings: .policyMappings
        case .policyConstraints: .policyConstraints
        case .inhibitAnyPolicy: .inhibitAnyPolicy
        case .authorityInfoAccess: .authorityInfoAccess
        }
    }

    /// The name in findings.
    var name: String {
        switch self {
        case .authorityKeyIdentifier: "an authority key identifier"
        case .subjectKeyIdentifier: "a subject key identifier"
        case .certificatePolicies: "certificate policies"
        case .policyMappings: "policy mappings"
        case .policyConstraints: "policy constraints"
        case .inhibitAnyPolicy: "an inhibition of anyPolicy"
        case .authorityInfoAccess: "authority information access"
        }
    }

    /// Checks the value of an extension of this kind.
    func check(_ field: CertificateExtension, in bytes: [UInt8]) throws(DERError) {
        var value = DERReader(field.value)
        switch self {
        case .authorityKeyIdentifier: try Self.checkAuthorityKeyIdentifier(&value, in: bytes)
        case .subjectKeyIdentifier:
            _ = try value.next(DERTag.octetString, in: bytes, reading: "subjectKeyIdentifier")
        case .certificatePolicies: try Self.checkPolicies(&value, in: bytes)
        case .policyMappings: try Self.checkMappings(&value, in: bytes)
        case .policyConstraints: try Self.checkConstraints(&value, in: bytes)
        case .inhibitAnyPolicy:
            try value.next(DERTag.integer, in: bytes, reading: "inhibitAnyPolicy")
                .checkSkipCount(in: bytes, reading: "inhibitAnyPolicy")
        case .authorityInfoAccess: try Self.checkInformationAccess(&value, in: bytes)
        }
        try value.finish(reading: "extnValue")
    }

    /// Section 4.2.1.1: `SEQUENCE { keyIdentifier [0] OCTET STRING OPTIONAL, authorityCertIssuer [1] GeneralNames
    /// OPTIONAL, authorityCertSerialNumber [2] INTEGER OPTIONAL }`, the last two together or not at all.
    private static func checkAuthorityKeyIdentifier(_ value: inout DERReader, in bytes: [UInt8]) throws(DERError) {
        let sequence = try value.next(DERTag.sequence, in: bytes, reading: "authorityKeyIdentifier")
        var fields = DERReader(contentsOf: sequence)
        _ = try fields.nextIfPresent(DERTag.primitive(0), in: bytes, reading: "keyIdentifier")
        let issuer = try fields.nextIfPresent(DERTag.constructed(1), in: bytes, reading: "authorityCertIssuer")
        let serial = try fields.nextIfPresent(DERTag.primitive(2), in: bytes, reading: "authorityCertSerialNumber")
        try fields.finish(reading: "authorityKeyIdentifier")
        guard (issuer == nil) == (serial == nil) else {
            throw DERError(.invalidValue, at: sequence.start, reading: "authorityKeyIdentifier")
        }
        try serial?.implicitly(DERTag.integer).checkInteger(in: bytes, reading: "authorityCertSerialNumber")
        guard let issuer else { return }
        var names = try DERReader(listIn: issuer, reading: "authorityCertIssuer")
        while !names.isAtEnd { _ = try GeneralName(names.next(in: bytes, reading: "authorityCertIssuer"), in: bytes) }
    }

    /// Section 4.2.1.4: `SEQUENCE SIZE (1..MAX) OF SEQUENCE { policyIdentifier OBJECT IDENTIFIER, policyQualifiers
    /// SEQUENCE SIZE (1..MAX) OF SEQUENCE { policyQualifierId OBJECT IDENTIFIER, qualifier ANY } OPTIONAL }`. No policy
    /// may occur twice.
    private static func checkPolicies(_ value: inout DERReader, in bytes: [UInt8]) throws(DERError) {
        let list = try value.next(DERTag.sequence, in: bytes, reading: "certificatePolicies")
        var policies = try DERReader(listIn: list, reading: "certificatePolicies")
        var seen: Set<ArraySlice<UInt8>> = []
        while !policies.isAtEnd {
            var policy = DERReader(
                contentsOf: try policies.next(DERTag.sequence, in: bytes, reading: "policyInformation"))
            let identifier = try policy.next(in: bytes, reading: "policyIdentifier")
            try identifier.checkObjectIdentifier(in: bytes, reading: "policyIdentifier")
            guard seen.insert(bytes[identifier.contents]).inserted else {
                throw DERError(.duplicate, at: identifier.start, reading: "policyIdentifier")
            }
            guard !policy.isAtEnd else { continue }
            let qualifiers = try policy.next(DERTag.sequence, in: bytes, reading: "policyQualifiers")
            try policy.finish(reading: "policyInformation")
            var list = try DERReader(listIn: qualifiers, reading: "policyQualifiers")
            while !list.isAtEnd {
                var qualifier = DERReader(
                    contentsOf: try list.next(DERTag.sequence, in: bytes, reading: "policyQualifierInfo"))
                try qualifier.next(in: bytes, reading: "policyQualifierId")
                    .checkObjectIdentifier(in: bytes, reading: "policyQualifierId")
                _ = try qualifier.next(in: bytes, reading: "qualifier")
                try qualifier.finish(reading: "policyQualifierInfo")
            }
        }
    }

    /// Section 4.2.1.5: `SEQUENCE SIZE (1..MAX) OF SEQUENCE { issuerDomainPolicy OBJECT IDENTIFIER, subjectDomainPolicy
    /// OBJECT IDENTIFIER }`. Neither may be anyPolicy.
    private static func checkMappings(_ value: inout DERReader, in bytes: [UInt8]) throws(DERError) {
        let list = try value.next(DERTag.sequence, in: bytes, reading: "policyMappings")
        var mappings = try DERReader(listIn: list, reading: "policyMappings")
        while !mappings.isAtEnd {
            var mapping = DERReader(
                contentsOf: try mappings.next(DERTag.sequence, in: bytes, reading: "policyMapping"))
            for field: StaticString in ["issuerDomainPolicy", "subjectDomainPolicy"] {
                let policy = try mapping.next(in: bytes, reading: field)
                try policy.checkObjectIdentifier(in: bytes, reading: field)
                guard !policy.holds(.anyPolicy, in: bytes) else {
                    throw DERError(.invalidValue, at: policy.start, reading: field)
                }
            }
            try mapping.finish(reading: "policyMapping")
        }
    }

    /// Section 4.2.1.11: `SEQUENCE { requireExplicitPolicy [0] SkipCerts OPTIONAL, inhibitPolicyMapping [1] SkipCerts
    /// OPTIONAL }`, at least one of them.
    private static func checkConstraints(_ value: inout DERReader, in bytes: [UInt8]) throws(DERError) {
        let sequence = try value.next(DERTag.sequence, in: bytes, reading: "policyConstraints")
        var counts = try DERReader(listIn: sequence, reading: "policyConstraints")
        for (number, field) in [(UInt8(0), "requireExplicitPolicy" as StaticString), (1, "inhibitPolicyMapping")] {
            try counts.nextIfPresent(DERTag.primitive(number), in: bytes, reading: field)?
                .implicitly(DERTag.integer).checkSkipCount(in: bytes, reading: field)
        }
        try counts.finish(reading: "policyConstraints")
    }

    /// Section 4.2.2.1: `SEQUENCE SIZE (1..MAX) OF SEQUENCE { accessMethod OBJECT IDENTIFIER, accessLocation
    /// GeneralName }`.
    private static func checkInformationAccess(_ value: inout DERReader, in bytes: [UInt8]) throws(DERError) {
        let list = try value.next(DERTag.sequence, in: bytes, reading: "authorityInfoAccess")
        var descriptions = try DERReader(listIn: list, reading: "authorityInfoAccess")
        while !descriptions.isAtEnd {
            var description = DERReader(
                contentsOf: try descriptions.next(DERTag.sequence, in: bytes, reading: "accessDescription"))
            try description.next(in: bytes, reading: "accessMethod")
                .checkObjectIdentifier(in: bytes, reading: "accessMethod")
            _ = try GeneralName(description.next(in: bytes, reading: "accessLocation"), in: bytes)
            try description.finish(reading: "accessDescription")
        }
    }
}

extension DERReader {
    /// Creates a reader of the elements of a list with at least one.
    fileprivate init(listIn element: DERElement, reading field: StaticString) throws(DERError) {
        guard !element.isEmpty else { throw DERError(.invalidValue, at: element.start, reading: field) }
        self.init(contentsOf: element)
    }
}

extension DERElement {
    /// Returns the element with the tag that an IMPLICIT tag replaces.
    fileprivate func implicitly(_ tag: UInt8) -> DERElement {
        DERElement(tag: tag, start: start, contentStart: contentStart, end: end)
    }

    /// Checks `SkipCerts ::= INTEGER (0..MAX)`.
    fileprivate func checkSkipCount(in bytes: [UInt8], reading field: StaticString) throws(DERError) {
        try checkInteger(in: bytes, reading: field)
        guard bytes[contentStart] < 0x80 else { throw DERError(.invalidValue, at: start, reading: field) }
    }
}
