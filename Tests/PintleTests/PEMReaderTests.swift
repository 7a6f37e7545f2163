import Testing

@testable import Pintle

@Suite("PEM files")
struct PEMReaderTests {
    private let content = (0..<100).map { UInt8($0) }

    private var block: String { PEMBlock.text(label: "CERTIFICATE", bytes: content) }

    private func blocks(_ text: String, _ maximum: Int = 1 << 20) throws(PEMError) -> [PEMBlock] {
        try PEMReader.blocks(in: Array(text.utf8), maximumBlockSize: maximum)
    }

    private func failure(_ text: String, _ maximum: Int = 1 << 20) -> PEMError? {
        do throws(PEMError) {
            _ = try blocks(text, maximum)
            return nil
        } catch {
            return error
        }
    }

    @Test("Written blocks are read back in order, with number and line")
    func roundTrip() throws {
        let other = PEMBlock.text(label: "PUBLIC KEY", bytes: [1, 2, 3])
        #expect(
            try blocks("# a comment\n" + block + "Certificate:\n    Data:\n" + other) == [
                PEMBlock(label: "CERTIFICATE", bytes: content, number: 1, line: 2),
                PEMBlock(label: "PUBLIC KEY", bytes: [1, 2, 3], number: 2, line: 9),
            ])
        #expect(block.split(separator: "\n").map(\.count).max() == 64)
    }

    @Test("Line breaks of every system, a missing last one, blanks at line ends and a byte-order mark change nothing")
    func lineBreaks() throws {
        let wanted = try blocks(block)
        #expect(try blocks(block.replacingText("\n", with: "\r\n")) == wanted)
        #expect(try blocks(block.replacingText("\n", with: "\r")) == wanted)
        #expect(try blocks(String(block.dropLast())) == wanted)
        #expect(try blocks(block.replacingText("\n", with: " \t\n")) == wanted)
        #expect(try blocks("\u{FEFF}" + block) == wanted)
        #expect(
            try blocks(block.replacingText("BEGIN CERTIFICATE-----\n", with: "BEGIN CERTIFICATE-----\n\n"))
                == wanted)
    }

    @Test("A file without blocks is not an error")
    func noBlocks() throws {
        #expect(try blocks("") == [])
        #expect(try blocks("just text\n--- BEGIN ---\n") == [])
        #expect(PEMReader.looksLikePEM(Array(("text\n" + block).utf8)))
        #expect(!PEMReader.looksLikePEM([0x30, 0x82, 0x01]))
    }

    @Test("A bad block between good ones is an error with its number and line, and the reader continues after it")
    func badBlock() throws {
        let bad = block.replacingText("AAEC", with: "AA!C")
        var reader = PEMReader(Array((block + bad + block).utf8))
        #expect(try reader.next()?.number == 1)
        let error = #expect(throws: PEMError.self) { try reader.next() }
        #expect(error?.reason == .invalidBase64)
        #expect(error?.block == 2)
        #expect(error?.line == 7)
        let third = try reader.next()
        #expect(third?.number == 3)
        #expect(third?.bytes == content)
        #expect(try reader.next() == nil)
    }

    @Test(
        "Broken boundaries are errors, never text",
        arguments: [
            ("-----BEGIN CERTIFICATE----\nAAAA\n-----END CERTIFICATE-----\n", .malformedBoundary, 1),
            ("----- BEGIN X-----\n  -----BEGIN X-----\nAAAA\n  -----END X-----\n", .malformedBoundary, 2),
            (
                "-----BEGIN X-----\nAAAA\n-----END X----------BEGIN X-----\nAAAA\n-----END X-----\n",
                .malformedBoundary, 3
            ),
            ("-----BEGIN  X-----\nAAAA\n-----END  X-----\n", .malformedBoundary, 1),
            ("-----BEGIN -----\nAAAA\n-----END -----\n", .malformedBoundary, 1),
            ("-----BEGIN X-----\nAAAA\n-----END X\n", .malformedBoundary, 3),
            ("AAAA\n-----END X-----\n", .unexpectedEnd, 2),
            ("-----BEGIN X-----\nAAAA\n-----END Y-----\n", .labelMismatch(begin: "X", end: "Y"), 3),
            ("-----BEGIN X-----\nAAAA\n", .unterminated, 2),
            ("-----BEGIN X-----\nAAAA\n-----BEGIN X-----\nAAAA\n-----END X-----\n", .unterminated, 3),
            ("-----BEGIN X-----", .unterminated, 1),
            ("-----BEGIN X-----\n-----END X-----\n", .empty, 1),
            ("-----BEGIN X-----\nAA==\nAA==\n-----END X-----\n", .invalidBase64, 3),
            ("-----BEGIN X-----\nAAA\n-----END X-----\n", .invalidBase64, 2),
            ("-----BEGIN X-----\nAB==\n-----END X-----\n", .invalidBase64, 2),
            ("-----BEGIN X-----\nAA-_\n-----END X-----\n", .invalidBase64, 2),
            ("-----BEGIN X-----\n AAAA\n-----END X-----\n", .invalidBase64, 2),
            ("-----BEGIN X-----\nAAAA\n\nAAAA\n-----END X-----\n", .invalidBase64, 3),
            (
                "-----BEGIN X-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: A\n\nAAAA\n-----END X-----\n",
                .encryptedLegacyKey, 2
            ),
            ("-----BEGIN X-----\nComment: a\n\nAAAA\n-----END X-----\n", .headers, 2),
        ] as [(String, PEMError.Reason, Int)])
    func rejects(_ text: String, _ reason: PEMError.Reason, _ line: Int) throws {
        let error = try #require(failure(text))
        #expect(error.reason == reason)
        #expect(error.block == 1)
        #expect(error.line == line)
    }

    @Test("A valid counterpart of each refused block is accepted")
    func twin() throws {
        #expect(try blocks("-----BEGIN X-----\nAAAA\n-----END X-----\n").map(\.bytes) == [[0, 0, 0]])
        #expect(try blocks("-----BEGIN X-----\nAA==\n-----END X-----").map(\.bytes) == [[0]])
        #expect(try blocks("-----BEGIN A B-C-----\nAAAA\n-----END A B-C-----").map(\.label) == ["A B-C"])
    }

    @Test("OpenSSL's trusted certificates are distinguished by their label")
    func trusted() throws {
        #expect(
            try blocks(PEMBlock.text(label: "TRUSTED CERTIFICATE", bytes: [1])).map(\.label) == ["TRUSTED CERTIFICATE"])
    }

    @Test("A block of the maximum size is accepted, and a larger one is refused")
    func size() {
        #expect(failure(block, 100) == nil)
        #expect(failure(block, 99)?.reason == .tooLarge(maximum: 99))
        #expect(
            failure("-----BEGIN X-----\n" + String(repeating: "A", count: 4_000_000))?.reason
                == .tooLarge(maximum: 1 << 20))
    }

    /// Texts that a person would take for a certificate, with the line of the mistake.
    static let strays: [(String, Int)] = [
        ("> -----BEGIN CERTIFICATE-----\n> AAAA\n> -----END CERTIFICATE-----\n", 1),
        ("text\n| -----BEGIN X509 CERTIFICATE-----\nAAAA\n", 2),
        ("-----begin certificate-----\nAAAA\n-----end certificate-----\n", 1),
        ("-----Begin Certificate-----\nAAAA\n-----End Certificate-----\n", 1),
        ("----BEGIN CERTIFICATE----\nAAAA\n----END CERTIFICATE----\n", 1),
        ("----- BEGIN CERTIFICATE -----\nAAAA\n", 1), ("-----BEGINCERTIFICATE-----\n", 1),
        ("---- BEGIN TRUSTED CERTIFICATE ----\n", 1), ("BEGIN CERTIFICATE-----\nAAAA\n", 1),
        ("-BEGIN CERTIFICATE-\n", 1), ("\u{2014} BEGIN CERTIFICATE \u{2014}\n", 1),
        ("\u{2013}\u{2013}BEGIN CERTIFICATE\n", 1), ("\u{FEFF}\u{FEFF}-----BEGIN CERTIFICATE-----\nAAAA\n", 1),
        ("\u{A0}-----BEGIN CERTIFICATE-----\n", 1), ("{\"pem\": \"-----BEGIN CERTIFICATE-----\\nAAAA\"}\n", 1),
        ("\n\n> -----END CERTIFICATE-----\n", 3), ("> -----BEGIN PUBLIC KEY-----\n", 1),
        ("----BEGIN RSA PRIVATE KEY----\n", 1),
    ]

    @Test("A line that only resembles a boundary is an error, before a good block and after one", arguments: strays)
    func stray(_ text: String, _ line: Int) throws {
        let before = try #require(failure(text + block))
        #expect(before.reason == .malformedBoundary && before.line == line && before.block == 1)
        let after = try #require(failure(block + text))
        #expect(after.reason == .malformedBoundary && after.line == 5 + line && after.block == 2)
        // The reader reports one error for the intended block and then reads the next block.
        var reader = PEMReader(Array((text + block + block).utf8))
        #expect(throws: PEMError.self) { try reader.next() }
        #expect(try reader.next()?.bytes == content)
        #expect(try reader.next()?.bytes == content)
        #expect(try reader.next() == nil)
    }

    @Test(
        "Prose about certificates is ordinary text",
        arguments: [
            "subject=CN = a.example\nissuer=CN = Root -- 2\n", "# BEGIN CERTIFICATE list, see below\n",
            "Certificate:\n    Data:\n        Version: 3 (0x2)\n        X509v3 extensions:\n",
            "-- \nthe end-entity certificate\n",
            "- begin certificate section\n", "# \u{C9}cole, Z\u{FC}rich \u{2014} certificates --\n",
            "append certificate --\n",
            "-- end certificates --\n", " 0 s:CN = a.example\n   i:CN = Root\n---\n", "\tindented\u{C}\n",
            "=====\n-----\n",
            "# Issuer: CN=Certigna O=Dhimyotis\n", "Netscape Comment: --- begin your day with a certificate ---\n",
        ])
    func text(_ text: String) throws {
        let wanted = try blocks(block).map(\.bytes)
        #expect(try blocks(text + block + text).map(\.bytes) == wanted)
        #expect(try blocks(text.replacingText("\n", with: "\r\n") + block).map(\.bytes) == wanted)
    }

    @Test("A block without its boundaries is an error; a word that begins like base64 of a certificate is text")
    func strayBase64() throws {
        let certificate = PEMBlock.text(label: "CERTIFICATE", bytes: UnsignedCertificate().der)
        let bare = certificate.split(separator: "\n").dropFirst().dropLast().map { $0 + "\n" }.joined()
        for text in [bare, "==== CERTIFICATE ====\n" + bare, bare.replacingText("\n", with: "") + "\n", "  " + bare] {
            let error = try #require(failure(block + text))
            #expect(error.reason == .strayBase64 && error.line == (text.hasPrefix("=") ? 7 : 6))
            #expect(failure(text + block)?.reason == .strayBase64)
        }
        #expect(failure("MIIB is how it begins\n" + block + "MIIBCgKCAQEA...\n") == nil)
        #expect(try blocks(certificate + block).count == 2)
    }

    @Test("A lower-case boundary inside a block is reported as a broken boundary")
    func strayEnd() throws {
        let bad = block.replacingText("-----END CERTIFICATE-----", with: "-----end certificate-----")
        let error = try #require(failure(bad + block))
        #expect(error.reason == .malformedBoundary && error.line == 5)
        #expect(failure(block + block) == nil)
    }

    @Test(
        "Text between blocks is skipped, whatever its bytes are", arguments: [0, 1, 0x08, 0x13, 0x1F, 0x7F, 0x82, 0xE9])
    func controlBytes(_ byte: UInt8) throws {
        let pem = Array(block.utf8)
        // openssl prints the low bytes of a friendly name in UTF-16.
        let name = Array("    friendlyName: Corp ".utf8) + [byte] + Array(" Root\n".utf8)
        for bytes in [[byte, 0x0A] + pem, name + pem, pem + name + pem, pem + [0x30, byte, 0x0A], pem + [byte]] {
            #expect(try PEMReader.blocks(in: bytes).allSatisfy { $0.bytes == content })
        }
        #expect(throws: PEMError.self) { try PEMReader.blocks(in: name + pem.dropLast(8)) }
    }

    @Test("DER beside the blocks is an error that is reported once, also if the DER was cut off")
    func joinedDER() throws {
        let pem = Array(block.utf8)
        let key: [UInt8] =
            [0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21] + [UInt8](repeating: 0, count: 33)
        let certificate: [UInt8] = [0x30, 0x82, 0x01, 0x00, 0x30, 0x81, 0xA0] + [UInt8](repeating: 3, count: 249)
        let lineFeed: [UInt8] = [0x30, 0x82, 0x0A, 0x6D, 0x30, 0x82, 0x09, 0x00] + [UInt8](repeating: 3, count: 2_665)
        let carriageReturn: [UInt8] = [0x30, 0x82, 0x0D, 0x64] + lineFeed.dropFirst(4)
        let indefinite: [UInt8] = [0x30, 0x80] + key.dropFirst(2)
        for der in [
            key, certificate, Array(certificate.prefix(40)), lineFeed, carriageReturn, Array(lineFeed.prefix(40)),
            indefinite,
        ] {
            for (bytes, line) in [(der + [0x0A] + pem, 1), (pem + der, 6)] {
                let error = #expect(throws: PEMError.self) { try PEMReader.blocks(in: bytes) }
                #expect(error?.reason == .notText && error?.line == line)
            }
            var reader = PEMReader(der + [0x0A] + der + [0x0A] + pem)
            #expect(throws: PEMError.self) { try reader.next() }
            #expect(try reader.next()?.bytes == content)
            #expect(try reader.next() == nil)
        }
        let quadruple: [UInt8] = [0x30, 0x84, 0, 0] + certificate.dropFirst(2)
        for prefix in ["# my second root:", "subject=CN=x", " ", "\t", "\u{FEFF}", "\0", "caf\u{E9} 0"] {
            for der in [certificate, lineFeed, quadruple, indefinite] {
                let error = #expect(throws: PEMError.self) { try PEMReader.blocks(in: pem + prefix.utf8 + der) }
                #expect(error?.reason == .notText, "\(prefix)")
            }
            #expect(try PEMReader.blocks(in: pem + prefix.utf8).count == 1)
        }
        // The twins are too short for their own length, or have no element that fits.
        for twin in [Array(key.prefix(8)), [0x30, 0x05, 0x06, 0x04, 0x2B], [0x30, 0x82, 0x01, 0x00, 0x41, 0x03]] {
            #expect(try PEMReader.blocks(in: pem + twin).count == 1)
        }
    }

    @Test("UTF-32 beside the blocks is an error")
    func utf32() {
        let wide = block.utf8.flatMap { [$0, 0, 0, 0] as [UInt8] }
        for bytes in [wide, Array([0, 0, 0] + wide.dropLast(3))] {
            let error = #expect(throws: PEMError.self) { try PEMReader.blocks(in: Array(block.utf8) + bytes) }
            #expect(error?.reason == .notText)
        }
    }

    @Test("UTF-16 is an error, not a file without blocks")
    func utf16() {
        let text: [UInt8] = [0xFF, 0xFE] + block.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), 0] }
        #expect(throws: PEMError.self) { try PEMReader.blocks(in: text) }
        // UTF-16 without its byte-order mark, and after another file.
        #expect(throws: PEMError.self) { try PEMReader.blocks(in: Array(text.dropFirst(2))) }
        #expect(throws: PEMError.self) { try PEMReader.blocks(in: Array(block.utf8) + text) }
    }
}
