import Testing

@testable import Pintle

@Suite("Certificate structure")
struct CertificateLayoutTests {
    private func refusal(_ change: (inout UnsignedCertificate) -> Void) -> DERError? {
        var certificate = UnsignedCertificate()
        change(&certificate)
        let der = certificate.der
        return DERError.thrown { () throws(DERError) in _ = try Certificate(der: der) }
    }

    private func read(_ change: (inout UnsignedCertificate) -> Void = { _ in }) throws -> Certificate {
        var certificate = UnsignedCertificate()
        change(&certificate)
        return try certificate.read()
    }

    @Test("Versions 1, 2 and 3 are accepted")
    func versions() throws {
        #expect(try read().version == 3)
        #expect(try read { $0.version = DERBytes.element(0xA0, DERBytes.integer(1)) }.version == 2)
        #expect(try read { $0.version = [] }.version == 1)
    }

    @Test(
        "An explicit default version, an unknown one and a large number are refused",
        arguments: [[0], [3], [0xFF], [0, 2], [], [0x7F, 0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]])
    func wrongVersions(_ content: [UInt8]) {
        let error = refusal { $0.version = DERBytes.element(0xA0, DERBytes.element(0x02, content)) }
        #expect(error?.field.description == "version")
        #expect(error?.reason == .invalidValue)
    }

    @Test("An element after the version, inside its tag, is refused")
    func versionWithCompany() {
        let error = refusal { $0.version = DERBytes.element(0xA0, DERBytes.integer(2), DERBytes.null) }
        #expect(error?.reason == .trailingData)
    }

    @Test("A serial number keeps its octets, even if it is long, zero or negative")
    func serialNumbers() throws {
        let long = [0x7F] + [UInt8](repeating: 0xEE, count: 19)
        for content: [UInt8] in [[0x2A], [0x00], [0x00, 0x80], [0x80], long, long + long] {
            #expect(try Array(read { $0.serial = DERBytes.element(0x02, content) }.serialNumber) == content)
        }
    }

    @Test("An empty or padded serial number is refused", arguments: [[], [0, 1], [0xFF, 0xFF]] as [[UInt8]])
    func wrongSerialNumbers(_ content: [UInt8]) {
        let error = refusal { $0.serial = DERBytes.element(0x02, content) }
        #expect(error?.field.description == "serialNumber")
        #expect(error?.reason == .invalidValue)
    }

    @Test("Only version 3 may have extensions, and only versions 2 and 3 unique identifiers")
    func fieldsOfLaterVersions() throws {
        let extensions = [UnsignedCertificate.extensionField(DERBytes.oid(1, 3, 9), DERBytes.null)]
        let version2 = DERBytes.element(0xA0, DERBytes.integer(1))
        let identifiers = DERBytes.element(0x81, [0x00, 0xAA]) + DERBytes.element(0x82, [0x00, 0xBB])
        #expect(try read { $0.extensions = extensions }.extensions.count == 1)
        #expect(
            refusal {
                $0.extensions = extensions
                $0.version = version2
            }?.field.description == "extensions")
        #expect(
            try read {
                $0.uniqueIdentifiers = identifiers
                $0.version = version2
            }.version == 2)
        #expect(
            refusal {
                $0.uniqueIdentifiers = identifiers
                $0.version = []
            }?.field.description == "uniqueID")
    }

    @Test("Bytes after the certificate, its signature or its last field are refused")
    func trailingData() {
        let good = UnsignedCertificate().der
        #expect(DERError.thrown { () throws(DERError) in _ = try Certificate(der: good) } == nil)
        let behind = DERError.thrown { () throws(DERError) in _ = try Certificate(der: good + [0]) }
        #expect(behind == DERError(.trailingData, at: good.count, reading: "certificate"))
        #expect(refusal { $0.trailing = DERBytes.null }?.reason == .trailingData)
        #expect(refusal { $0.uniqueIdentifiers = DERBytes.null }?.field.description == "tbsCertificate")
    }

    @Test("The signature must be a BIT STRING")
    func signature() throws {
        #expect(try read { $0.signature = DERBytes.bitString([]) }.version == 3)
        #expect(refusal { $0.signature = DERBytes.octetString([1]) }?.field.description == "signatureValue")
    }

    @Test("A certificate may have 256 KiB, but not one byte more")
    func size() throws {
        func certificate(signature count: Int) -> [UInt8] {
            var certificate = UnsignedCertificate()
            certificate.signature = DERBytes.bitString([UInt8](repeating: 1, count: count))
            return certificate.der
        }
        let overhead = certificate(signature: 200_000).count - 200_000
        let largest = certificate(signature: Certificate.maximumSize - overhead)
        #expect(largest.count == 256 * 1024)
        #expect(try Certificate(der: largest).version == 3)
        let error = DERError.thrown { () throws(DERError) in
            _ = try Certificate(der: certificate(signature: Certificate.maximumSize - overhead + 1))
        }
        #expect(error?.reason == .tooLarge)
    }

    @Test("Two certificates are equal only if every byte is")
    func equality() throws {
        #expect(try read() == read())
        #expect(try Set([read(), read()]).count == 1)
        #expect(try read() != read { $0.serial = DERBytes.integer(0x2B) })
    }

    @Test("A certificate is self-issued only if its names are equal byte for byte")
    func selfIssued() throws {
        #expect(try !read().isSelfIssued)
        #expect(try read { $0.subject = $0.issuer }.isSelfIssued)
        // The same letters in another string type count as a different name.
        let printable = DERBytes.sequence(
            UnsignedCertificate.attribute(DERBytes.element(0x13, Array("Issuer".utf8))))
        #expect(try !read { $0.subject = printable }.isSelfIssued)
    }
}
