import Testing

@testable import Pintle

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests the checks of a leaf that is its own anchor. Each finding has a counterpart that differs in one thing.
@Suite("A leaf that is its own anchor")
struct LeafAsAnchorTests {
    typealias D = DERBytes

    private static func request(
        names: [[UInt8]] = [ProfileFixture.dns("nas.example")], extensions: [[UInt8]] = [],
        host: String = "nas.example",
        isAnchor: Bool = true, accepting: Set<TrustApproval.AcceptedFailure> = []
    ) throws -> PathRequest {
        var certificate = UnsignedCertificate()
        let field = UnsignedCertificate.extensionField(D.oid(2, 5, 29, 17), D.sequence(names.flatMap(\.self)))
        certificate.extensions = [field] + extensions
        let chain = try PresentedChain([certificate.der])
        return PathRequest(
            chain: chain, host: try ServerName(host), anchors: isAnchor ? .only([chain.leaf]) : .system,
            instant: DecisionFixture.now, pins: nil, accepted: accepting)
    }

    private static func codes(_ request: PathRequest) -> [PathFailure.Code] {
        request.findingsOfLeafAsAnchor().map(\.code)
    }

    @Test("It is valid from its first to its last instant, unless the user accepts that it has expired")
    func dates() throws {
        func codes(at offset: Double, from edge: KeyPath<Validity, Date>, accepting: Bool = false) throws
            -> [PathFailure.Code]
        {
            let request = try Self.request(accepting: accepting ? [.expired] : [])
            let instant = request.chain.leaf.validity[keyPath: edge] + offset
            return Self.codes(
                PathRequest(
                    chain: request.chain, host: request.host, anchors: request.anchors, instant: instant, pins: nil,
                    accepted: request.accepted))
        }
        #expect(try codes(at: 0, from: \.notBefore) == [])
        #expect(try codes(at: -1, from: \.notBefore) == [.notYetValid])
        #expect(try codes(at: -1, from: \.notBefore, accepting: true) == [.notYetValid])
        #expect(try codes(at: 0, from: \.notAfter) == [])
        #expect(try codes(at: 1, from: \.notAfter) == [.expired])
        #expect(try codes(at: 1, from: \.notAfter, accepting: true) == [])
        for (edge, offset) in [(\Validity.notBefore, -1.0), (\.notAfter, 1)] {
            let request = try Self.request()
            let instant = request.chain.leaf.validity[keyPath: edge] + offset
            let findings = PathRequest(
                chain: request.chain, host: request.host, anchors: request.anchors, instant: instant, pins: nil
            ).findingsOfLeafAsAnchor()
            #expect(findings.map(\.depth) == [0])
        }
    }

    @Test("Its names must include the host, unless the user accepts another name")
    func name() throws {
        #expect(try Self.codes(Self.request()) == [])
        let other = try Self.request(host: "other.example").findingsOfLeafAsAnchor()
        #expect(other.map(\.code) == [.nameMismatch] && other.map(\.depth) == [0])
        #expect(other.first?.text == "the certificate is not for other.example")
        #expect(try Self.codes(Self.request(host: "other.example", accepting: [.nameMismatch])) == [])
        #expect(try Self.codes(Self.request(host: "other.example", accepting: [.expired])) == [.nameMismatch])
    }

    @Test(
        "A wildcard stands for one label, under its own domain only",
        arguments: [
            ("*.nas.example", "a.nas.example", true), ("*.nas.example", "A.NAS.example", true),
            ("*.NAS.example", "a.nas.example", true), ("*.nas.example", "a.other.example", false),
            ("*.nas.example", "a.nas.other", false), ("*.nas.example", "nas.example", false),
            ("*.nas.example", "b.a.nas.example", false), ("*.nas.example", "a_b.nas.example", false),
            ("*.nas.example", "xnas.example", false), ("*.example", "nas.example", false),
            ("nas.example", "a.nas.example", false),
        ])
    func wildcard(_ name: String, _ host: String, isFor: Bool) throws {
        let request = try Self.request(names: [ProfileFixture.dns(name)], host: host)
        #expect(try request.chain.leaf.isFor(ServerName(host)) == isFor)
        #expect(Self.codes(request) == (isFor ? [] : [.nameMismatch]))
    }

    @Test(
        "An address is compared with addresses only, and a name with DNS names only",
        arguments: [
            ("192.0.2.7", D.element(0x87, [192, 0, 2, 7]), true),
            ("192.0.2.7", D.element(0x87, [192, 0, 2, 8]), false),
            ("192.0.2.7", ProfileFixture.dns("192.0.2.7"), false), ("192.0.2.7", ProfileFixture.dns("*.0.2.7"), false),
            ("192.0.2.7", D.element(0x87, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 7]), false),
            ("192.0.2.7", D.element(0x87, [192, 0, 2, 7, 255, 255, 255, 255]), false),
            ("2001:db8::1", D.element(0x87, [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [1]), true),
            ("nas.example", D.element(0x82, Array("nas.example".utf8)), true),
            ("nas.example", D.element(0x81, Array("nas.example".utf8)), false),
            ("nas.example", D.element(0x86, Array("nas.example".utf8)), false),
            ("nas.example", D.element(0x87, [192, 0, 2, 7]), false), ("nas.example", ProfileFixture.dns(""), false),
        ])
    func kinds(_ host: String, _ name: [UInt8], isFor: Bool) throws {
        let request = try Self.request(names: [name], host: host)
        #expect(try request.chain.leaf.isFor(ServerName(host)) == isFor)
        #expect(Self.codes(request).contains(.nameMismatch) == !isFor)
    }

    @Test("A certificate without alternative names is for no host, whatever its common name")
    func noNames() throws {
        for host in ["nas.example", "192.0.2.7"] {
            var certificate = UnsignedCertificate()
            certificate.subject = UnsignedCertificate.commonName(host)
            #expect(try !certificate.read().isFor(ServerName(host)))
        }
    }

    @Test("Names that match nothing are repeated up to eight, and only beside a mismatch", arguments: [0, 8, 9, 10])
    func misspelt(count: Int) throws {
        let names = [ProfileFixture.dns("nas.example")] + (0..<count).map { ProfileFixture.dns("a_\($0).example") }
        let rest = count > 8 ? ["\(count - 8) more names that are not DNS names"] : []
        let texts = (0..<min(8, count)).map { "not a DNS name: a_\($0).example" } + rest
        var good = LeafNames(try Self.request(names: names))
        #expect(good.findings(beside: []) == [])
        let mismatch = PathFailure.Finding(.nameMismatch, depth: 0, text: "as the library says")
        // A library that compares other names than those that count may find what is here.
        #expect(good.findings(beside: [mismatch]).map(\.text) == texts)
        #expect(good.findings(beside: [.init(.expired, text: "")]) == [])
        var bad = LeafNames(try Self.request(names: names, host: "other.example"))
        let found = bad.findings(beside: [])
        #expect(found.map(\.text) == ["the certificate is not for other.example"] + texts)
        #expect(found.allSatisfy { $0.code == .nameMismatch && $0.depth == 0 })
    }

    @Test("It may be an authority's, and only as an anchor of the request has it the liberties of private authorities")
    func fields() throws {
        let constraints = UnsignedCertificate.extensionField(D.oid(2, 5, 29, 36), D.sequence(D.element(0x80, [0])))
        #expect(try Self.codes(Self.request(extensions: [constraints])) == [])
        #expect(try Self.codes(Self.request(extensions: [constraints], isAnchor: false)) == [.other])
        #expect(try Self.codes(Self.request(extensions: [ProfileFixture.authority])) == [])
        #expect(try Self.codes(Self.request(extensions: [ProfileFixture.authority], isAnchor: false)) == [])
    }
}
