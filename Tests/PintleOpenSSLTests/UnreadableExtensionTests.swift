import Pintle
import PintleOpenSSL
import PintleTestKit
import Testing

/// Certificate policies and key identifiers that cannot be read. OpenSSL skips many of them.
@Suite("Unreadable extensions")
struct UnreadableExtensionTests {
    struct Value: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let identifier: DERWriter.OID
        let bytes: [UInt8]

        init(_ description: String, _ identifier: DERWriter.OID, _ bytes: [UInt8]) {
            (testDescription, self.identifier, self.bytes) = (description, identifier, bytes)
        }
    }

    private static func tag(_ tag: UInt8, _ parts: [UInt8]...) -> [UInt8] {
        let content = parts.flatMap(\.self)
        return [tag, UInt8(content.count)] + content
    }

    private static let null: [UInt8] = [0x05, 0x00]
    private static let one: [UInt8] = [0x06, 0x03, 0x88, 0x37, 0x01]
    private static let two: [UInt8] = [0x06, 0x03, 0x88, 0x37, 0x02]
    private static let any: [UInt8] = [0x06, 0x04, 0x55, 0x1D, 0x20, 0x00]
    private static let cps: [UInt8] = [0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x02, 0x01]
    private static let link: [UInt8] = tag(0x16, Array("http://a.test/".utf8))
    private static let name: [UInt8] = tag(0x86, Array("http://a.test/".utf8))

    private static func values(
        _ identifier: DERWriter.OID, _ name: String, _ list: [(String, [UInt8])]
    ) -> [Value] {
        list.map { Value("\(name): \($0.0)", identifier, $0.1) }
    }

    private static let unreadable =
        values(
            .inhibitAnyPolicy, "inhibitAnyPolicy",
            [
                ("empty", []), ("NULL", null), ("negative", [0x02, 1, 0xFF]), ("without content", [0x02, 0]),
                ("padded", [0x02, 2, 0, 1]), ("BOOLEAN", [0x01, 1, 0xFF]), ("trailing bytes", [0x02, 1, 0, 0]),
                ("in a SEQUENCE", [0x30, 3, 0x02, 1, 0]), ("ENUMERATED", [0x0A, 1, 0]), ("truncated", [0x02, 2, 0]),
                ("indefinite length", [0x02, 0x80, 0, 0, 0]), ("long length", [0x02, 0x81, 1, 0]),
            ])
        + values(
            .policyConstraints, "policyConstraints",
            [
                ("empty", []), ("no field", [0x30, 0]), ("NULL", null), ("negative", tag(0x30, [0x80, 1, 0xFF])),
                ("count without content", tag(0x30, [0x80, 0])), ("padded count", tag(0x30, [0x81, 2, 0, 1])),
                ("explicit tag", tag(0x30, tag(0xA0, [0x02, 1, 0]))), ("INTEGER", tag(0x30, [0x02, 1, 0])),
                ("other order", tag(0x30, [0x81, 1, 0], [0x80, 1, 0])),
                ("the same field twice", tag(0x30, [0x80, 1, 0], [0x80, 1, 0])),
                ("unknown field", tag(0x30, [0x80, 1, 0], [0x82, 1, 0])), ("SET", tag(0x31, [0x80, 1, 0])),
                ("trailing bytes", tag(0x30, [0x80, 1, 0]) + null), ("bare field", [0x80, 1, 0]),
            ])
        + values(
            .policyMappings, "policyMappings",
            [
                ("empty", []), ("no mapping", [0x30, 0]), ("from anyPolicy", tag(0x30, tag(0x30, any, one))),
                ("to anyPolicy", tag(0x30, tag(0x30, one, any))), ("one policy", tag(0x30, tag(0x30, one))),
                ("three policies", tag(0x30, tag(0x30, one, two, one))), ("not nested", tag(0x30, one, two)),
                ("nested twice", tag(0x30, tag(0x30, tag(0x30, one, two)))), ("NULL", null),
                ("trailing bytes", tag(0x30, tag(0x30, one, two)) + [0]),
                ("second mapping to anyPolicy", tag(0x30, tag(0x30, one, two), tag(0x30, one, any))),
                ("an INTEGER for a policy", tag(0x30, tag(0x30, one, [0x02, 1, 1]))),
            ])
        + values(
            .certificatePolicies, "certificatePolicies",
            [
                ("empty", []), ("no policy", [0x30, 0]), ("NULL", null),
                ("trailing bytes", tag(0x30, tag(0x30, one)) + null),
                ("not nested", tag(0x30, one)), ("empty policy", tag(0x30, [0x30, 0])),
                ("the same policy twice", tag(0x30, tag(0x30, one), tag(0x30, one))),
                ("no qualifier", tag(0x30, tag(0x30, one, [0x30, 0]))), ("SET", tag(0x31, tag(0x30, one))),
                ("bytes behind the qualifiers", tag(0x30, tag(0x30, one, tag(0x30, tag(0x30, cps, link)), null))),
                ("qualifier without value", tag(0x30, tag(0x30, one, tag(0x30, tag(0x30, cps))))),
                ("qualifiers not nested", tag(0x30, tag(0x30, one, tag(0x30, cps, link)))),
                ("BOOLEAN", [0x01, 1, 0xFF]), ("padded identifier", tag(0x30, tag(0x30, [0x06, 3, 0x80, 0x37, 1]))),
                ("empty identifier", tag(0x30, tag(0x30, [0x06, 0]))),
            ])
        + values(
            .subjectKeyIdentifier, "subjectKeyIdentifier",
            [
                ("empty", []), ("bare octets", [UInt8](repeating: 7, count: 20)), ("NULL", null),
                ("BIT STRING", [0x03, 2, 0, 7]), ("trailing bytes", [0x04, 1, 7, 0]), ("truncated", [0x04, 9, 7]),
                ("constructed", [0x24, 3, 0x04, 1, 7]), ("long length", [0x04, 0x81, 1, 7]),
                ("in a SEQUENCE", tag(0x30, [0x04, 1, 7])),
            ])
        + values(
            .authorityKeyIdentifier, "authorityKeyIdentifier",
            [
                ("empty", []), ("NULL", null), ("OCTET STRING", [0x04, 1, 7]), ("bare field", [0x80, 1, 7]),
                ("an OCTET STRING within", tag(0x30, [0x04, 1, 7])),
                ("explicit tag", tag(0x30, tag(0xA0, [0x04, 1, 7]))),
                ("issuer without serial number", tag(0x30, tag(0xA1, name))),
                ("serial number without issuer", tag(0x30, [0x82, 1, 7])),
                ("no issuer", tag(0x30, [0xA1, 0], [0x82, 1, 7])),
                ("padded serial number", tag(0x30, tag(0xA1, name), [0x82, 2, 0, 7])),
                ("serial number without content", tag(0x30, tag(0xA1, name), [0x82, 0])),
                ("other order", tag(0x30, [0x82, 1, 7], tag(0xA1, name))),
                ("a NULL for the issuer", tag(0x30, tag(0xA1, null), [0x82, 1, 7])),
                ("unknown field", tag(0x30, [0x83, 1, 7])), ("long length", [0x30, 0x81, 0]),
            ])

    private static let readable =
        values(.inhibitAnyPolicy, "inhibitAnyPolicy", [("zero", [0x02, 1, 0]), ("large", [0x02, 3, 0, 0xFF, 0xFF])])
        + values(
            .policyConstraints, "policyConstraints",
            [
                ("requireExplicitPolicy", tag(0x30, [0x80, 1, 9])), ("inhibitPolicyMapping", tag(0x30, [0x81, 1, 0])),
                ("both", tag(0x30, [0x80, 1, 9], [0x81, 1, 9])),
            ])
        + values(
            .policyMappings, "policyMappings",
            [
                ("one", tag(0x30, tag(0x30, one, two))), ("two", tag(0x30, tag(0x30, one, two), tag(0x30, two, one))),
            ])
        + values(
            .certificatePolicies, "certificatePolicies",
            [
                ("one", tag(0x30, tag(0x30, one))), ("two", tag(0x30, tag(0x30, one), tag(0x30, two))),
                ("anyPolicy", tag(0x30, tag(0x30, any))),
                ("a qualifier", tag(0x30, tag(0x30, one, tag(0x30, tag(0x30, cps, link))))),
            ])

    /// Returns the verdict on a path with this extension, in place of the usual one of its kind.
    private func verdict(_ value: Value, at depth: Int, critical: Bool) throws -> TrustDecision {
        let field = CertificateExtension(value.identifier, critical: critical, value: value.bytes)
        let change: @Sendable (inout CertificateTemplate) -> Void = {
            $0.editExtensions = { list in
                list.removeAll { $0.oid == field.oid }
                list.append(field)
            }
        }
        let root = try CertificateAuthority.root { if depth == 2 { change(&$0) } }
        let authority = try root.intermediate { if depth == 1 { change(&$0) } }
        let leaf = try authority.issue(hosts: [Validation.host]) { if depth == 0 { change(&$0) } }
        return try Validation.decide(leaf.chain, anchors: [root.certificate])
    }

    @Test("An extension that cannot be read makes leaf and intermediates malformed", arguments: unreadable)
    func refused(_ value: Value) throws {
        for depth in 0...1 {
            for critical in [true, false] {
                let decision = try verdict(value, at: depth, critical: critical)
                #expect(decision.summary == "invalid-path malformed-certificate", "depth \(depth), \(critical)")
                guard case .rejected(.invalidPath(let failure)) = decision else { continue }
                #expect(failure.primary.depth == depth)
            }
        }
    }

    @Test("An extension that can be read is accepted at every depth", arguments: readable)
    func accepted(_ value: Value) throws {
        for depth in 0...2 {
            #expect(try verdict(value, at: depth, critical: true).summary == "host-not-pinned", "depth \(depth)")
        }
    }

    @Test("An authority key identifier with issuer and serial number is accepted if they are the issuer's")
    func issuerAndSerial() throws {
        let root = try CertificateAuthority.root()
        func verdict(_ serial: [UInt8]) throws -> String {
            let leaf = try root.issue(hosts: [Validation.host]) {
                $0.editExtensions = { [root] list in
                    list.removeAll { $0.oid == .authorityKeyIdentifier }
                    list.append(
                        .authorityKeyIdentifier(
                            root.certificate.subjectKeyIdentifier, issuer: root.certificate.subject, serial: serial))
                }
            }
            return try Validation.decide(leaf.chain, anchors: [root.certificate]).summary
        }
        #expect(try verdict(root.certificate.template.serialNumber) == "host-not-pinned")
        #expect(try verdict([0, 7]) == "invalid-path malformed-certificate")
    }
}
