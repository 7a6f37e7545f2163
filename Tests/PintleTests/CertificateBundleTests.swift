import Testing

@testable import Pintle

@Suite("Certificate bundles")
struct CertificateBundleTests {
    private func pem(_ der: [UInt8], label: String = "CERTIFICATE") -> [UInt8] {
        Array(PEMBlock.text(label: label, bytes: der).utf8)
    }

    @Test("A bundle reads PEM with text around the blocks, or a single DER, in order")
    func reads() throws {
        let (first, second) = (UnsignedCertificate().der, try #require(TestChain(2).presented.last))
        let bundle = try CertificateBundle(Array("# roots\n".utf8) + pem(first) + Array("\n".utf8) + pem(second))
        #expect(bundle.certificates.map(\.der) == [first, second])
        #expect(try CertificateBundle(first).certificates.map(\.der) == [first])
    }

    @Test("One unreadable certificate makes the whole file an error, which lists all of them")
    func allOrNothing() throws {
        let good = UnsignedCertificate().der
        let bytes = pem(good) + pem([0x30, 0x03, 0x02, 0x01, 0x05]) + pem(good, label: "PRIVATE KEY")
        let error = #expect(throws: CertificateBundleError.self) { try CertificateBundle(bytes) }
        #expect(error?.problems.map(\.block) == [2, 3])
        #expect(error?.problems.last?.message == "a PRIVATE KEY, not a CERTIFICATE")
        #expect(try CertificateBundle(pem(good) + pem(good)).certificates.count == 2)
    }

    @Test("A file without certificates is an error", arguments: ["", "just text", "\n\n"])
    func empty(text: String) {
        let error = #expect(throws: CertificateBundleError.self) { try CertificateBundle(Array(text.utf8)) }
        #expect(error?.problems.count == 1)
        #expect(error?.problems.first?.message == "no certificate in it")
    }

    @Test("A second certificate in another format is an error with its line, and is never skipped")
    func secondInAnotherForm() throws {
        let (first, second) = (UnsignedCertificate().der, try #require(TestChain(2).presented.last))
        let text = PEMBlock.text(label: "CERTIFICATE", bytes: second)
        let lines = pem(first).count { $0 == 0x0A }
        let quoted = text.split(separator: "\n").map { "> \($0)\n" }.joined()
        let forms: [(String, [UInt8])] = [
            ("DER", second),
            ("UTF-16, little", text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }),
            ("UTF-16, big", text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }),
            ("quoted", Array(quoted.utf8)), ("lower case", Array(text.lowercased().utf8)),
            (
                "four dashes",
                Array(
                    text.split(separator: "\n").map { $0.hasPrefix("-") ? "\($0.dropFirst())\n" : "\($0)\n" }.joined()
                        .utf8)
            ),
        ]
        for (form, bytes) in forms {
            let error = #expect(throws: CertificateBundleError.self) { try CertificateBundle(pem(first) + bytes) }
            #expect(error?.problems.count == 1, "\(form)")
            #expect(error?.problems.first?.line == lines + 1, "\(form): \(error as Any)")
            let before = #expect(throws: CertificateBundleError.self) {
                try CertificateBundle(bytes + [0x0A] + pem(first))
            }
            #expect(before?.problems.first?.line == 1 || form == "DER", "\(form): \(before as Any)")
        }
        #expect(throws: CertificateBundleError.self) { try CertificateBundle(second + first) }
        #expect(try CertificateBundle(pem(first) + Array(text.utf8)).certificates.map(\.der) == [first, second])
    }

    @Test("Anchors that the user chose skip a certificate with a broken extension, and a policy's do not")
    func unfitAnchor() throws {
        let good = UnsignedCertificate().der
        var unfit = UnsignedCertificate()
        // An empty list of names.
        unfit.extensions = [UnsignedCertificate.extensionField(DERBytes.oid(2, 5, 29, 17), DERBytes.sequence([]))]
        let (certificates, skipped) = try CertificateBundle.anchors(in: pem(good) + pem(unfit.der) + pem(good))
        #expect(certificates.map(\.der) == [good, good])
        #expect(skipped.map(\.block) == [2])
        #expect(skipped.first?.message.contains("subjectAltName") == true)
        #expect(throws: CertificateBundleError.self) { try CertificateBundle(pem(good) + pem(unfit.der)) }
        // A file with nothing else, and a certificate that is cut off, are still errors.
        #expect(throws: CertificateBundleError.self) { try CertificateBundle.anchors(in: pem(unfit.der)) }
        #expect(throws: CertificateBundleError.self) {
            try CertificateBundle.anchors(in: pem(good) + pem(Array(good.dropLast(9))))
        }
        let cut = pem(good) + pem(good).dropLast(9)
        #expect(throws: CertificateBundleError.self) { try CertificateBundle.anchors(in: cut) }
    }

    @Test("Inline PEM is parsed like a file")
    func inline() throws {
        let der = UnsignedCertificate().der
        let text = PEMBlock.text(label: "CERTIFICATE", bytes: der)
        #expect(try CertificateBundle(pem: text).certificates.map(\.der) == [der])
        let cut = text + "-----BEGIN CERTIFICATE-----\n"
        #expect(throws: CertificateBundleError.self) { try CertificateBundle(pem: cut) }
    }

    @Test("A bundle's pins are in its order, with each key and each certificate once")
    func pins() throws {
        let (first, second) = (TestChain(1), TestChain(2))
        var renewed = UnsignedCertificate()
        renewed.key = UnsignedCertificate.p256Key(3)
        renewed.subject = UnsignedCertificate.commonName("renewed")
        let ders = [first.certificates[0], second.certificates[0], renewed.der, first.certificates[0]]
        let bundle = try CertificateBundle(ders.flatMap { pem($0) })
        // Key number 3 is that of the first chain's leaf.
        #expect(bundle.publicKeyPins() == [first.keyPin(0), second.keyPin(0)])
        #expect(bundle.publicKeyPins(at: .ca) == [first.keyPin(0, .ca), second.keyPin(0, .ca)])
        #expect(
            bundle.certificatePins(at: .leaf) == [
                first.certificatePin(0, .leaf), second.certificatePin(0, .leaf),
                Pin(.certificate(CertificatePin(certificate: renewed.der)), at: .leaf),
            ])
    }

    @Test("A bundle's certificates become anchors, with or without the system's")
    func anchors() throws {
        let bundle = try CertificateBundle(TestChain().certificates[2])
        #expect(TrustAnchors.only(bundle) == .only(bundle.certificates))
        #expect(TrustAnchors(bundle, includesSystem: true) == TrustAnchors(bundle.certificates, includesSystem: true))
        let host = try PinnedHost("a.example", anchors: .only(bundle))
        #expect(host.pins.isEmpty && host.anchors == .only(bundle))
        #expect(throws: PolicyError.self) { try PinnedHost("a.example", anchors: .only([])) }
    }
}
