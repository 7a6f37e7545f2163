import Pintle
import Testing

@Suite("Bundles of certificates")
struct CertificateBundleTests {
    private func pem(_ der: [UInt8], label: String = "CERTIFICATE") -> [UInt8] {
        Array(PEMBlock.text(label: label, bytes: der).utf8)
    }

    @Test("PEM with text around its blocks, and a single DER, give the certificates in order")
    func reads() throws {
        let (first, second) = (UnsignedCertificate().der, try #require(TestChain(2).presented.last))
        let bundle = try CertificateBundle(Array("# roots\n".utf8) + pem(first) + Array("\n".utf8) + pem(second))
        #expect(bundle.certificates.map(\.der) == [first, second])
        #expect(try CertificateBundle(first).certificates.map(\.der) == [first])
    }

    @Test("One certificate that cannot be read takes the whole file with it, and all such are named")
    func allOrNothing() throws {
        let good = UnsignedCertificate().der
        let bytes = pem(good) + pem([0x30, 0x03, 0x02, 0x01, 0x05]) + pem(good, label: "PRIVATE KEY")
        let error = #expect(throws: CertificateBundleError.self) { try CertificateBundle(bytes) }
        #expect(error?.problems.map(\.block) == [2, 3])
        #expect(error?.problems.last?.message == "a PRIVATE KEY, not a CERTIFICATE")
        #expect(try CertificateBundle(pem(good) + pem(good)).certificates.count == 2)
    }

    @Test("A file without certificates is an error", arguments: ["", "just text", "\0\0"])
    func empty(text: String) {
        let error = #expect(throws: CertificateBundleError.self) { try CertificateBundle(Array(text.utf8)) }
        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.message == "no certificate in it")
    }
}
