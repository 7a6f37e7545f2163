import Foundation
import PintleTestKit
import Testing

@testable import PintleOpenSSL

/// Certificates and keys in every form that files have. The system's openssl writes them.
@Suite("Client identities")
struct ClientIdentityTests {
    let root: CertificateAuthority
    let authority: CertificateAuthority
    let client: Identity

    init() throws {
        root = try .root(name: "Client Root")
        authority = try root.intermediate(name: "Client Authority")
        client = try authority.issueClient(keyType: .rsa(bits: 2_048))
    }

    private func openssl(_ arguments: [String], _ input: [UInt8]) throws -> [UInt8] {
        let result = try runProcess(["openssl"] + arguments, input: input)
        try #require(result.status == 0, "\(String(decoding: result.stderr, as: UTF8.self))")
        return result.stdout
    }

    /// Returns the code of the error that an identity cannot be read with, and expects that its text has no secret.
    private func code(_ read: () throws -> ClientIdentity) -> ClientIdentityError.Code? {
        let error = #expect(throws: ClientIdentityError.self) { try read() }
        #expect(error.map { !"\($0)\($0.hint ?? "")".contains("open sesame") } == true)
        return error?.code
    }

    private var pem: [UInt8] { Array(client.chainPEM.utf8) }
    private static let password = "open sesame"

    // MARK: Keys

    enum KeyForm: String, CaseIterable {
        case pkcs8, pkcs8DER, traditional, traditionalDER
        case encrypted, encryptedDER, scrypt, legacyEncrypted

        var isEncrypted: Bool { [.encrypted, .encryptedDER, .scrypt, .legacyEncrypted].contains(self) }

        func arguments(_ kind: String) -> [String] {
            let password = ["-passout", "pass:open sesame"]
            return switch self {
            case .pkcs8: ["pkey"]
            case .pkcs8DER: ["pkcs8", "-topk8", "-nocrypt", "-outform", "DER"]
            case .traditional: [kind] + (kind == "rsa" ? ["-traditional"] : [])
            case .traditionalDER: [kind, "-outform", "DER"] + (kind == "rsa" ? ["-traditional"] : [])
            case .encrypted: ["pkcs8", "-topk8"] + password
            case .encryptedDER: ["pkcs8", "-topk8", "-outform", "DER"] + password
            case .scrypt: ["pkcs8", "-topk8", "-scrypt"] + password
            case .legacyEncrypted: [kind, "-aes128"] + (kind == "rsa" ? ["-traditional"] : []) + password
            }
        }
    }

    @Test("Every form of a key is read, and its password is asked for once if it has one", arguments: KeyForm.allCases)
    func keys(form: KeyForm) throws {
        for (kind, type) in [("rsa", KeyType.rsa(bits: 2_048)), ("ec", .p256), ("ec", .p384)] {
            let client = try authority.issueClient(keyType: type)
            let certificates = Array(client.chainPEM.utf8)
            let key = try openssl(form.arguments(kind), Array(client.key.pem.utf8))
            var asked = 0
            let identity = try ClientIdentity(certificates: certificates, key: key) {
                asked += 1
                return Self.password
            }
            #expect(identity.certificates == client.chain)
            #expect(asked == (form.isEncrypted ? 1 : 0))
            // In one file with the certificates, as servers have it.
            if !form.rawValue.hasSuffix("DER") {
                let file = key + certificates
                #expect(try ClientIdentity(certificates: file, key: file) { Self.password } == identity)
            }
            guard form.isEncrypted else { continue }
            #expect(code { try ClientIdentity(certificates: certificates, key: key) } == .passwordRequired)
            #expect(code { try ClientIdentity(certificates: certificates, key: key) { "sesame" } } == .wrongPassword)
            for wrong in ["", Self.password + "\0x", Self.password + String(repeating: " ", count: 1_024)] {
                #expect(code { try ClientIdentity(certificates: certificates, key: key) { wrong } } == .wrongPassword)
            }
        }
    }

    /// 2^31 - 1.
    private static let many: [UInt8] = [0x7F, 0xFF, 0xFF, 0xFF]

    /// Returns DER in which each INTEGER 2048, the number of iterations that openssl uses, is another one. Looks into
    /// OCTET STRINGs too.
    private static func withIterations(_ iterations: [UInt8], _ der: [UInt8]) -> [UInt8]? {
        var (result, rest): ([UInt8], ArraySlice<UInt8>) = ([], der[...])
        while let tag = rest.first {
            guard rest.count >= 2 else { return nil }
            var (count, header) = (Int(rest[rest.startIndex + 1]), 2)
            if count >= 0x80 {
                header += count & 0x7F
                guard (0x81...0x84).contains(count), rest.count >= header else { return nil }
                count = rest.dropFirst(2).prefix(header - 2).reduce(0) { $0 << 8 | Int($1) }
            }
            guard rest.count >= header + count else { return nil }
            var content = Array(rest.dropFirst(header).prefix(count))
            if tag == 0x02, content == [0x08, 0x00] { content = iterations }
            if tag & 0x20 != 0 || tag == 0x04 && content.first == 0x30 {
                content = withIterations(iterations, content) ?? content
            }
            let octets = withUnsafeBytes(of: UInt32(content.count).bigEndian) { Array($0.drop { $0 == 0 }) }
            result += [tag] + (content.count < 0x80 ? [UInt8(content.count)] : [0x80 | UInt8(octets.count)] + octets)
            result += content
            rest = rest.dropFirst(header + count)
        }
        return result
    }

    @Test("A negative number of iterations is refused, and gives nothing back to the limit")
    func negativeIterations() throws {
        let file = try pkcs12(["-certpbe", "NONE", "-keypbe", "NONE", "-iter", "2048"])
        for count in [[0x80, 0, 0, 0, 0, 0, 0, 0], [0xC0, 0, 0, 0, 0, 0, 0, 0], [0xFF]] as [[UInt8]] {
            let patched = try #require(Self.withIterations(count, file))
            #expect(code { try ClientIdentity(pkcs12: patched) { Self.password } } == .tooManyIterations)
        }
    }

    @Test("scrypt with a large parallelism is refused before any work")
    func scrypt() throws {
        let options = ["pkcs8", "-topk8", "-outform", "DER", "-passout", "pass:open sesame", "-scrypt"]
        let input = Array(client.key.pem.utf8)
        for (parallelism, isAccepted) in [("1", true), ("100", false)] {
            let key = try openssl(
                options + ["-scrypt_N", "16384", "-scrypt_r", "8", "-scrypt_p", parallelism], input)
            if isAccepted {
                #expect(try ClientIdentity(certificates: pem, key: key) { Self.password }.certificates == client.chain)
            } else {
                #expect(
                    code { try ClientIdentity(certificates: pem, key: key) { Self.password } } == .tooManyIterations)
            }
        }
    }

    @Test("Of a file with an old encrypted block, OpenSSL gets only that block")
    func legacyBlock() throws {
        let encrypted = try openssl(KeyForm.encrypted.arguments("rsa"), Array(client.key.pem.utf8))
        // The last two could hold PKCS#8 with any number of iterations.
        for label in ["X", "ENCRYPTED PRIVATE KEY", "PRIVATE KEY"] {
            let text =
                "-----BEGIN \(label)-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n"
                + "-----END \(label)-----\n"
            let key = Array(text.utf8) + encrypted
            #expect(code { try ClientIdentity(certificates: pem, key: key) { Self.password } } == .unreadableKey)
        }
    }

    /// Returns a DSA key in PKCS#8 with numbers of this length, whose public half is not known.
    private static func dsa(bytes count: Int) -> [UInt8] {
        let number = [UInt8](repeating: 0x5B, count: count)
        return DERWriter.encode { der in
            der.sequence { der in
                der.integer(0)
                der.sequence { der in
                    der.oid([1, 2, 840, 10_040, 4, 1])
                    der.sequence { der in for _ in 0..<3 { der.integer(magnitude: number) } }
                }
                der.octetString { $0.integer(magnitude: number) }
            }
        }
    }

    @Test("A DSA key whose public half would take minutes to compute is refused, also in PKCS#12")
    func slowKey() throws {
        let start = ContinuousClock.now
        #expect(code { try ClientIdentity(certificates: pem, key: Self.dsa(bytes: 10_000)) } == .unreadableKey)
        #expect(start.duration(to: .now) < .seconds(5))
        // A short one is read, and belongs to no certificate here.
        #expect(code { try ClientIdentity(certificates: pem, key: Self.dsa(bytes: 256)) } == .keyMismatch)
    }

    @Test("A PKCS#12 file with hundreds of slow keys is refused at the seventeenth, and one with sixteen is read")
    func manySlowKeys() throws {
        func file(_ count: Int) -> [UInt8] {
            func data(_ content: [UInt8], in der: inout DERWriter) {
                der.sequence { der in
                    der.oid([1, 2, 840, 113_549, 1, 7, 1])
                    der.context(0) { $0.octetString { $0.raw(content) } }
                }
            }
            let bags = DERWriter.encode { der in
                der.sequence { der in
                    for _ in 0..<count {
                        der.sequence { der in
                            der.oid([1, 2, 840, 113_549, 1, 12, 10, 1, 1])
                            der.context(0) { $0.raw(Self.dsa(bytes: 256)) }
                        }
                    }
                }
            }
            let safe = DERWriter.encode { der in der.sequence { data(bags, in: &$0) } }
            return DERWriter.encode { der in
                der.sequence { der in
                    der.integer(3)
                    data(safe, in: &der)
                }
            }
        }
        #expect(code { try ClientIdentity(pkcs12: file(17)) { "" } } == .tooLarge)
        #expect(code { try ClientIdentity(pkcs12: file(16)) { "" } } == .noCertificate)
    }

    @Test("A key with 2^31 iterations is refused before any work")
    func iterations() throws {
        let key = try openssl(KeyForm.encryptedDER.arguments("rsa"), Array(client.key.pem.utf8))
        #expect(try ClientIdentity(certificates: pem, key: key) { Self.password }.certificates == client.chain)
        let many = try #require(Self.withIterations(Self.many, key))
        let start = ContinuousClock.now
        #expect(code { try ClientIdentity(certificates: pem, key: many) { Self.password } } == .tooManyIterations)
        #expect(start.duration(to: .now) < .seconds(5))
    }

    // MARK: Chains

    @Test("The path is put in order, and the root and strangers are left out")
    func order() throws {
        let stranger = try CertificateAuthority.root(name: "Stranger").certificate.der
        let middle = try authority.intermediate(name: "Second Authority")
        let client = try middle.issueClient()
        let path = client.chain
        let key = Array(client.key.pem.utf8)
        for order in [path, path.reversed(), [path[1], stranger, path[0], path[2], root.certificate.der]] {
            let identity = try ClientIdentity(certificates: Array(PEM.bundle(order).utf8), key: key)
            #expect(identity.certificates == path)
            #expect(identity.fingerprint == CertificatePin(certificate: path[0]))
        }
        // One certificate in DER.
        #expect(try ClientIdentity(certificates: path[0], key: key).certificates == [path[0]])
        // A self-signed certificate of the client itself.
        let own = try Identity.selfSigned(hosts: ["client"])
        #expect(try ClientIdentity(certificates: own.chain[0], key: own.key.pkcs8DER).certificates == own.chain)
    }

    @Test("Authorities of one name, and a cross-signed one, are told apart by their keys, in any order")
    func sameNames() throws {
        // Without an authority key identifier, only the signature tells them apart.
        let twin = try root.intermediate(name: "Client Authority")
        let crossed = try authority.crossSigned(by: try .root(name: "Other Root"))
        let own = try CertificateTemplate.forAuthority("Client Authority").selfSigned(with: authority.key)
        let client = try authority.issueClient { $0.authorityKeyIdentifier = .absent }
        let (leaf, issuer) = (client.certificate.der, authority.certificate.der)
        for others in [[twin.certificate.der, issuer], [own.der, issuer, twin.certificate.der]] {
            for order in [others, others.reversed()] {
                let file = Array(PEM.bundle([leaf] + order).utf8)
                #expect(
                    try ClientIdentity(certificates: file, key: client.key.pkcs8DER).certificates == [leaf, issuer])
            }
        }
        let file = Array(PEM.bundle([leaf, crossed.certificate.der]).utf8)
        #expect(
            try ClientIdentity(certificates: file, key: client.key.pkcs8DER).certificates
                == [leaf, crossed.certificate.der])
    }

    @Test("Bad input gives one error that names the reason")
    func badInput() throws {
        let key = client.key.pkcs8DER
        let other = try PrivateKey(.rsa(bits: 2_048)).pkcs8DER
        let ca = Array(PEM.bundle([authority.certificate.der, root.certificate.der]).utf8)
        #expect(code { try ClientIdentity(certificates: pem, key: other) } == .keyMismatch)
        #expect(code { try ClientIdentity(certificates: ca, key: key) } == .missingLeaf)
        #expect(code { try ClientIdentity(certificates: [UInt8](), key: key) } == .noCertificate)
        #expect(code { try ClientIdentity(certificates: Array(client.key.pem.utf8), key: key) } == .noCertificate)
        #expect(code { try ClientIdentity(certificates: [0x30, 0x03, 1, 2, 3], key: key) } == .unreadableCertificate)
        #expect(code { try ClientIdentity(certificates: pem, key: [UInt8]()) } == .noKey)
        #expect(code { try ClientIdentity(certificates: pem, key: pem) } == .noKey)
        #expect(code { try ClientIdentity(certificates: pem, key: key.dropLast()) } == .unreadableKey)
        #expect(
            code { try ClientIdentity(certificates: pem, key: [UInt8](repeating: 0x30, count: 9)) } == .unreadableKey)
        let large = pem + [UInt8](repeating: UInt8(ascii: "\n"), count: 1 << 20)
        #expect(code { try ClientIdentity(certificates: large, key: key) } == .tooLarge)
        #expect(code { try ClientIdentity(certificates: pem, key: large) } == .tooLarge)
        #expect(code { try ClientIdentity(pkcs12: [UInt8](repeating: 0, count: 50 << 20)) } == .tooLarge)
        let many = Array(PEM.bundle([[UInt8]](repeating: client.certificate.der, count: 101)).utf8)
        #expect(code { try ClientIdentity(certificates: many, key: key) } == .tooLarge)
        let weak = try authority.issueClient(keyType: .rsa(bits: 1_024))
        #expect(code { try ClientIdentity(certificates: weak.chain[0], key: weak.key.pkcs8DER) } == .unusable)
        let damaged = client.chainPEM.replacingOccurrences(of: "-----END", with: "----END")
        #expect(code { try ClientIdentity(certificates: damaged.utf8, key: key) } == .unreadableCertificate)
    }

    @Test("An expired certificate is an identity all the same")
    func dates() throws {
        let client = try authority.issueClient {
            ($0.notBefore, $0.notAfter) = (.fromNow(days: -20), .fromNow(days: -10))
        }
        let identity = try ClientIdentity(certificates: client.certificate.der, key: client.key.pkcs8DER)
        #expect(identity.validity.notAfter < Date())
    }

    // MARK: PKCS#12

    /// `false` where OpenSSL's legacy provider is not installed, as with the libraries of `make modern`.
    private static let hasOldCiphers =
        (try? runProcess(["openssl", "list", "-providers", "-provider", "legacy"]).status) == 0

    private func pkcs12(_ options: [String], password: String = password) throws -> [UInt8] {
        let issuers = client.issuers.map(\.pem).joined()
        return try openssl(
            ["pkcs12", "-export", "-passout", "pass:\(password)"] + options,
            Array((client.key.pem + client.certificate.pem + issuers).utf8))
    }

    @Test(
        "PKCS#12 is read with its new and its old ciphers",
        arguments: [
            [], ["-legacy"], ["-legacy", "-descert"], ["-certpbe", "NONE"], ["-certpbe", "NONE", "-keypbe", "NONE"],
            ["-nomac"], ["-macalg", "sha512", "-iter", "100000"],
        ].filter { hasOldCiphers || $0.first != "-legacy" })
    func pkcs12(options: [String]) throws {
        let file = try pkcs12(options)
        let identity = try ClientIdentity(pkcs12: file) { Self.password }
        #expect(identity.certificates == client.chain)
        #expect(try ClientIdentity(certificates: pem, key: client.key.pkcs8DER) == identity)
        #expect(code { try ClientIdentity(pkcs12: file) { "sesame" } } == .wrongPassword)
        #expect(code { try ClientIdentity(pkcs12: file) } == .passwordRequired)
        #expect(code { try ClientIdentity(pkcs12: file.dropLast(40)) { Self.password } } == .unreadablePKCS12)
    }

    @Test("PKCS#12 without a password, with a password in UTF-8, and without a key or certificate")
    func otherPKCS12() throws {
        let open = try pkcs12([], password: "")
        #expect(try ClientIdentity(pkcs12: open).certificates == client.chain)
        #expect(try ClientIdentity(pkcs12: open) { "" }.certificates == client.chain)
        let foreign = try pkcs12([], password: "Schlüssel")
        #expect(try ClientIdentity(pkcs12: foreign) { "Schlüssel" }.certificates == client.chain)
        #expect(code { try ClientIdentity(pkcs12: try pkcs12(["-nokeys"])) { Self.password } } == .noKey)
        let keyOnly = try openssl(
            ["pkcs12", "-export", "-nocerts", "-passout", "pass:open sesame"], Array(client.key.pem.utf8))
        #expect(code { try ClientIdentity(pkcs12: keyOnly) { Self.password } } == .noCertificate)
        #expect(code { try ClientIdentity(pkcs12: pem) { Self.password } } == .unreadablePKCS12)
    }

    @Test(
        "PKCS#12 with 2^31 iterations is refused before any work, wherever they are",
        arguments: [
            ["-certpbe", "NONE", "-keypbe", "NONE"], ["-nomac", "-certpbe", "NONE"], ["-nomac", "-keypbe", "NONE"],
            ["-legacy", "-nomac", "-keypbe", "NONE"], ["-legacy", "-nomac", "-certpbe", "NONE"],
        ].filter { hasOldCiphers || $0.first != "-legacy" })
    func manyIterations(options: [String]) throws {
        let file = try pkcs12(options + ["-iter", "2048"])
        #expect(try ClientIdentity(pkcs12: file) { Self.password }.certificates == client.chain)
        let many = try #require(Self.withIterations(Self.many, file))
        let start = ContinuousClock.now
        #expect(code { try ClientIdentity(pkcs12: many) { Self.password } } == .tooManyIterations)
        #expect(start.duration(to: .now) < .seconds(5))
    }

    // MARK: Secrets

    @Test("Descriptions and mirrors show the fingerprint only")
    func descriptions() throws {
        let identity = try ClientIdentity(certificates: pem, key: client.key.pkcs8DER)
        var dumped = ""
        dump(identity, to: &dumped)
        for text in ["\(identity)", String(reflecting: identity), dumped] {
            #expect(text.contains("\(identity.fingerprint)"))
            #expect(!text.contains("credential") && !text.contains("0x"))
        }
    }
}
