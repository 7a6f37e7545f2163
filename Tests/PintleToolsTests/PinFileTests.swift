import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleTestKit
import Testing

@Suite("Pins of files")
struct PinFileTests {
    let directory: TemporaryDirectory
    let authority: PintleTestKit.CertificateAuthority
    let identity: Identity

    init() throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.root(name: "Root")
        identity = try authority.intermediate(name: "Issuing").issue(hosts: ["example.test", "www.example.test"])
    }

    private func pin(_ spki: [UInt8]) throws -> String { try PublicKeyPin(subjectPublicKeyInfo: spki).description }

    @Test("Pin lists a certificate with its pin, fingerprint, dates and names")
    func certificate() throws {
        let certificate = try Certificate(der: identity.certificate.der)
        let path = try directory.write(identity.certificate.pem, to: "cert.pem")
        let run = ToolRun("pin", path, now: certificate.validity.notAfter.addingTimeInterval(-30.5 * 86_400))
        #expect(run.code == 0)
        #expect(run.errors.isEmpty)
        let first = RFC3339.string(from: certificate.validity.notBefore).prefix(10)
        let last = RFC3339.string(from: certificate.validity.notAfter).prefix(10)
        #expect(
            run.output == """
                \(path)   1 certificate, not validated

                leaf   CN=example.test                                      EC P-256
                       pin    \(try pin(identity.certificate.spkiDER))
                       cert   \(CertificatePin(certificate: identity.certificate.der))
                       valid  \(first) to \(last), 30 days left
                       names  example.test, www.example.test

                """)
    }

    @Test("A certificate with a name that is not ASCII has a pin and a warning; one that was cut off is an error")
    func unreadable() throws {
        let foreign = try authority.issue(hosts: ["bücher.example.test"]).certificate
        let bundle = try directory.write(identity.certificate.pem + foreign.pem, to: "bundle.pem")
        for path in [bundle, try directory.write(foreign.der, to: "name.der")] {
            let run = ToolRun("pin", path)
            let wanted = try pin(foreign.spkiDER)
            #expect(run.code == 0 && run.output.contains(wanted))
            #expect(run.errors.contains("the certificate breaks the standard: dNSName at byte "), "\(run.errors)")
            #expect(ToolRun("inspect", path).output.contains("breaks the standard"))
        }
        #expect(ToolRun("pin", bundle, "--as", "pem").output == identity.certificate.pem + foreign.pem)
        let cut = PEM.encode(Array(identity.certificate.der.dropLast(9)))
        let run = ToolRun("pin", try directory.write(identity.certificate.pem + cut, to: "cut.pem"))
        #expect(run.code == 2 && run.output.isEmpty)
        #expect(run.errors.contains("PEM block 2") && run.errors.contains("it was damaged or cut off"), "\(run.errors)")
    }

    @Test("A rule from a certificate names the names that get none, unless the command line chooses one")
    func otherNames() throws {
        let wide = try authority.issue(hosts: ["*.example.org", "shop.example.org", "192.0.2.7", "api.example.org"])
        let path = try directory.write(wide.certificate.pem, to: "wide.pem")
        for form in ["policy", "okhttp"] {
            let run = ToolRun("pin", path, "--as", form)
            #expect(run.output.contains("shop.example.org") && !run.output.contains("api.example.org"))
            let line = run.errors.split(separator: "\n").first { $0.contains("\(path) also names ") } ?? ""
            for name in ["*.example.org", "api.example.org", "192.0.2.7"] {
                #expect(line.contains(name), "\(run.errors)")
            }
            #expect(!line.contains("shop"))
            let remedies = "--host chooses the name; a rule with includeSubdomains covers a wildcard"
            #expect(line.hasSuffix(" (not pinned): \(remedies)"), "\(line)")
        }
        let twice = ToolRun("pin", path, path, "--as", "policy")
        #expect(twice.errors.split(separator: "also names").count == 2, "\(twice.errors)")
        let starred = try directory.write(
            try authority.issue(hosts: ["example.org", "*.example.org"]).certificate.pem, to: "star.pem")
        let star = ToolRun("pin", starred, "--as", "curl")
        #expect(
            star.errors.contains("names *.example.org (not pinned): a rule with includeSubdomains covers"),
            "\(star.errors)")
        let chosen = ToolRun("pin", path, "--as", "policy", "--host", "api.example.org")
        #expect(chosen.output.contains("\"api.example.org\"") && !chosen.errors.contains("also names"))
        let single = try directory.write(try authority.issue(hosts: ["example.test"]).certificate.pem, to: "single.pem")
        #expect(!ToolRun("pin", single, "--as", "policy").errors.contains("also names"))
        // The other certificate's rule is one for the name.
        let both = ToolRun(
            "pin", try directory.write(identity.certificate.pem, to: "both.pem"), single, "--as", "policy")
        #expect(
            both.errors.contains("also names www.example.test (not pinned): --host chooses the name\n"),
            "\(both.errors)")
    }

    @Test("JSON carries the keys of the contract, in order")
    func json() throws {
        let path = try directory.write(identity.chainPEM + authority.certificate.pem, to: "chain.pem")
        let run = ToolRun("pin", path, "--json")
        #expect(run.code == 0)
        let listing = try #require(try run.json().elements?.first { _ in true })
        #expect(ToolRun.keys(listing) == ["source", "certificates"])
        let certificates = try #require(listing["certificates"]?.elements.map(Array.init))
        #expect(certificates.compactMap { $0["position"]?.string } == ["leaf", "1", "root"])
        #expect(
            ToolRun.keys(certificates[0]) == [
                "position", "subject", "issuer", "keyType", "keyBits", "spkiPin", "certificateSHA256", "notBefore",
                "notAfter", "isCA",
            ])
        #expect(certificates[0]["spkiPin"]?.string == (try pin(identity.certificate.spkiDER)))
        #expect(certificates[0]["keyBits"]?.integer == 256)
        #expect(certificates[0]["isCA"]?.boolean == false)
        #expect(certificates[2]["isCA"]?.boolean == true)
    }

    @Test(
        "Every form of a key gives the pin of its SubjectPublicKeyInfo",
        arguments: [KeyType.p256, .p384, .p521, .rsa2048, .rsaPSS(bits: 2_048), .ed25519, .ed448])
    func keys(type: KeyType) throws {
        let key = try PrivateKey(type)
        let expected = try pin(key.spkiDER)
        let files: [(name: String, bytes: [UInt8])] = [
            ("private.pem", Array(key.pem.utf8)), ("public.pem", Array(key.publicPEM.utf8)),
            ("private.der", key.pkcs8DER), ("public.der", key.spkiDER),
        ]
        for file in files {
            let run = ToolRun("pin", try directory.write(file.bytes, to: file.name), "--json")
            #expect(run.code == 0)
            #expect(run.output.contains("\"position\": \"key\""))
            #expect(run.output.contains("\"spkiPin\": \"\(expected)\""), "\(file.name)")
        }
    }

    @Test("Pin reads the traditional key formats that openssl writes", arguments: ["rsa", "ec"])
    func traditionalForms(kind: String) throws {
        let key = try PrivateKey(kind == "rsa" ? .rsa2048 : .p256)
        let source = try directory.write(key.pem, to: "key.pem")
        let old = directory.path(of: "old.pem")
        #expect(
            try runProcess(["openssl", kind, "-in", source, "-out", old, "-traditional"]).status == 0
                || runProcess(["openssl", kind, "-in", source, "-out", old]).status == 0)
        #expect(ToolRun("pin", old).output.contains(try pin(key.spkiDER)))
        guard kind == "rsa" else { return }
        let publicHalf = directory.path(of: "rsapub.pem")
        #expect(try runProcess(["openssl", "rsa", "-in", source, "-RSAPublicKey_out", "-out", publicHalf]).status == 0)
        #expect(ToolRun("pin", publicHalf).output.contains(try pin(key.spkiDER)))
        let der = directory.path(of: "rsapub.der")
        let writing = ["openssl", "rsa", "-in", source, "-RSAPublicKey_out", "-outform", "DER", "-out", der]
        #expect(try runProcess(writing).status == 0)
        #expect(ToolRun("pin", der).output.contains(try pin(key.spkiDER)))
    }

    @Test("Two integers that are not an RSA key are not a key")
    func notAKey() throws {
        let key = try directory.write(try PrivateKey(.p256).pem, to: "key.pem")
        let signature = directory.path(of: "signature.der")
        try #require(try runProcess(["openssl", "dgst", "-sha256", "-sign", key, "-out", signature, key]).status == 0)
        let run = ToolRun("pin", signature)
        #expect(run.code == 2)
        #expect(run.output.isEmpty)
    }

    @Test(
        "The error about an unsupported format names the command that converts it",
        arguments: [
            ("pkcs8 -topk8 -in key.pem -outform DER", "encrypted-key", "openssl pkey"),
            ("pkcs8 -topk8 -in key.pem -outform DER -v1 PBE-SHA1-3DES", "encrypted-key", "openssl pkey"),
            ("pkcs12 -export -in cert.pem -nokeys", "unsupported-format", "openssl pkcs12"),
            ("crl2pkcs7 -nocrl -certfile cert.pem -outform DER", "unsupported-format", "openssl pkcs7"),
        ])
    func wrapped(command: String, code: String, hint: String) throws {
        let arguments = command.split(separator: " ").map(String.init)
        _ = try directory.write(identity.key.pem, to: "key.pem")
        _ = try directory.write(identity.certificate.pem, to: "cert.pem")
        let path = directory.path(of: "wrapped.der")
        let inputs = arguments.map { $0.hasSuffix(".pem") ? directory.path(of: $0) : $0 }
        let password = arguments[0] == "crl2pkcs7" ? [] : ["-passout", "pass:secret"]
        try #require(try runProcess(["openssl"] + inputs + ["-out", path] + password).status == 0)
        let run = ToolRun("pin", path, "--json")
        #expect(run.code == 2)
        #expect(try run.json()["error"]?["code"]?.string == code)
        #expect(try run.json()["error"]?["hint"]?.string?.contains(hint) == true)
    }

    @Test("The error about many bad blocks lists only the first ones and says that there are more")
    func manyBadBlocks() throws {
        let line = "-----BEGIN CERTIFICATE-----\n"
        let run = ToolRun("pin", try directory.write(String(repeating: line, count: 50_000), to: "many.pem"))
        #expect(run.code == 2)
        #expect(run.errors.split(separator: "\n").count { $0.hasPrefix("pintle: error:") } == 21)
        #expect(run.errors.contains("there are more"))
    }

    @Test("Pin reads a certificate request, and a file with parameters before the key")
    func request() throws {
        let key = try PrivateKey()
        let request = try CertificateSigningRequest(hosts: ["example.test"], key: key)
        let run = ToolRun("pin", try directory.write(request.pem, to: "r.csr"), "--json")
        #expect(run.output.contains("\"position\": \"csr\""))
        #expect(run.output.contains("\"subject\": \"CN=example.test\""))
        #expect(run.output.contains(try pin(key.spkiDER)))
        #expect(ToolRun("pin", try directory.write(request.der, to: "r.der")).output.contains(try pin(key.spkiDER)))

        let path = directory.path(of: "ec.key")
        #expect(try runProcess(["openssl", "ecparam", "-genkey", "-name", "prime256v1", "-out", path]).status == 0)
        #expect(ToolRun("pin", path).code == 0)
    }

    @Test("Pin reads standard input")
    func standardInput() throws {
        let run = ToolRun("pin", "-", input: Array(identity.certificate.pem.utf8))
        #expect(run.code == 0)
        #expect(run.output.hasPrefix("stdin   1 certificate, not validated\n"))
    }

    @Test("Pin refuses an encrypted key and names the remedy", arguments: [["-aes256", "-traditional"], ["-aes256"]])
    func encrypted(options: [String]) throws {
        let source = try directory.write(try PrivateKey(.rsa2048).pem, to: "key.pem")
        let path = directory.path(of: "encrypted.pem")
        let made = try runProcess(
            ["openssl", "rsa", "-in", source, "-out", path, "-passout", "pass:secret"] + options)
        try #require(made.status == 0)
        let run = ToolRun("pin", path, "--json")
        #expect(run.code == 2)
        #expect(try run.json()["error"]?["code"]?.string == "encrypted-key")
        #expect(run.errors.contains("-pubout"))
    }

    @Test("Pin reports a bad block with its number and line, and prints no pins")
    func badBlock() throws {
        let lines = identity.certificate.pem.split(separator: "\n").count
        let bad = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
        let path = try directory.write(identity.certificate.pem + bad, to: "bundle.pem")
        let run = ToolRun("pin", path)
        #expect(run.code == 2)
        #expect(run.output.isEmpty)
        #expect(
            run.errors.hasPrefix("pintle: error: \(path):\(lines + 1): PEM block 2: the certificate cannot be read: "))
    }

    @Test("Pin reports every bad source and prints no pins")
    func severalSources() throws {
        let good = try directory.write(identity.certificate.pem, to: "good.pem")
        let junk = try directory.write([0x01, 0x02], to: "junk.der")
        let missing = directory.path(of: "missing.pem")
        let run = ToolRun("pin", good, junk, missing, "--json")
        #expect(run.code == 2)
        let document = try run.json()
        #expect(ToolRun.keys(document) == ["error", "errors"])
        #expect(document["errors"]?.count == 2)
        #expect(run.errors.contains("\(junk): neither PEM nor DER"))
        #expect(run.errors.contains("\(missing): no such file or directory"))
        #expect(ToolRun("pin", good).code == 0)
    }

    @Test("Ten megabytes of garbage give one error")
    func large() throws {
        var bytes = [UInt8](repeating: 0x30, count: 10_000_000)
        bytes[1] = 0x83
        let run = ToolRun("pin", try directory.write(bytes, to: "large.der"))
        #expect(run.code == 2)
        #expect(run.errors.split(separator: "\n").count == 2)
    }

    @Test("The names in a certificate cannot control the terminal")
    func hostileNames() throws {
        let hostile = try authority.issue(hosts: ["example.test"]) {
            $0.subject = .commonName("a\u{1B}[2Jb\u{202E}c")
        }
        let run = ToolRun("pin", try directory.write(hostile.certificate.pem, to: "hostile.pem"), terminalWidth: 80)
        #expect(run.code == 0)
        #expect(!run.output.contains("\u{1B}[2J"))
        #expect(!run.output.unicodeScalars.contains("\u{202E}"))
    }

    @Test("Snippets use certificates as pins and keys as backups")
    func snippets() throws {
        let key = try PrivateKey()
        let certificate = try directory.write(identity.certificate.pem, to: "cert.pem")
        let backup = try directory.write(key.publicPEM, to: "backup.pem")
        let (leaf, spare) = (try pin(identity.certificate.spkiDER), try pin(key.spkiDER))

        let policy = try ToolRun("pin", certificate, backup, "--as", "policy").json()
        let rule = policy["hosts"]?.elements?.first { _ in true }
        #expect(rule?["host"]?.string == "example.test")
        #expect(rule?["pins"]?.elements?.compactMap(\.string) == [leaf])
        #expect(rule?["backupPins"]?.elements?.compactMap(\.string) == [spare])

        let curl = ToolRun("pin", certificate, backup, "--as", "curl").output
        let curlPins = "sha256//\(leaf.dropFirst(7));sha256//\(spare.dropFirst(7))"
        #expect(curl == "curl --pinnedpubkey '\(curlPins)' https://example.test/\n")

        let swift = ToolRun("pin", certificate, backup, "--as", "swift", "--host", "www.example.test").output
        #expect(
            swift.contains("\"www.example.test\",\n        pins: [\"\(leaf)\"],\n        backupPins: [\"\(spare)\"])"))

        let alone = ToolRun("pin", certificate, "--as", "policy")
        #expect(alone.code == 1)
        #expect(alone.output.contains("\"backupPins\": []"))
        #expect(alone.errors.contains("no backup pin"))
        #expect(ToolRun("pin", backup, "--as", "policy").code == 2)
    }

    /// Options of `openssl genpkey`, and whether a path may have such a key.
    static let kinds: [(options: String, isAccepted: Bool)] = [
        ("-algorithm X25519", false), ("-algorithm RSA -pkeyopt rsa_keygen_bits:512", false),
        ("-algorithm RSA -pkeyopt rsa_keygen_bits:1024", false), ("-algorithm RSA -pkeyopt rsa_keygen_bits:2048", true),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:secp224r1", false),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1", false),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:brainpoolP256r1", false),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", true), ("-algorithm ED25519", true),
        ("-paramfile dsa.pem", false),
    ]

    @Test(
        "A key that no path may have is refused as a backup, also in a request, and shown with a warning",
        arguments: kinds)
    func weakKeys(options: String, isAccepted: Bool) throws {
        func openssl(_ line: String) throws {
            let run = try runProcess(
                ["openssl"] + line.split(separator: " ").map(String.init), workingDirectory: directory.path)
            try #require(run.status == 0, "\(run.errorOutput)")
        }
        let certificate = try directory.write(identity.certificate.pem, to: "cert.pem")
        if options.contains("dsa") {
            try openssl("genpkey -genparam -algorithm DSA -pkeyopt dsa_paramgen_bits:1024 -out dsa.pem")
        }
        try openssl("genpkey \(options) -out backup.key")
        var files = [directory.path(of: "backup.key")]
        // X25519 signs nothing, not even a request.
        if !options.contains("X25519") {
            try openssl("req -new -key backup.key -subj /CN=example.test -out backup.csr")
            files.append(directory.path(of: "backup.csr"))
        }
        for file in files {
            let policy = ToolRun("pin", certificate, file, "--as", "policy")
            let shown = ToolRun("pin", file)
            #expect(shown.code == 0 && shown.output.contains("sha256/"))
            #expect(shown.errors.contains("refused (weak-key)") == !isAccepted)
            #expect(policy.code == (isAccepted ? 0 : 2), "\(policy.errors)")
            #expect(policy.errors.contains("refused (weak-key)") == !isAccepted)
            #expect(policy.output.isEmpty == !isAccepted)
        }
    }

    @Test("-o writes a snippet to a file, which a failed source leaves as it was; - is standard output")
    func file() throws {
        let certificate = try directory.write(identity.certificate.pem, to: "cert.pem")
        let key = try directory.write(try PrivateKey().publicPEM, to: "backup.pem")
        let file = directory.path(of: "policy.json")
        let printed = ToolRun("pin", certificate, key, "--as", "policy")
        let written = ToolRun("pin", certificate, key, "--as", "policy", "-o", file)
        #expect(written.code == 0 && written.output.isEmpty)
        #expect(try directory.read("policy.json") == Array(printed.output.utf8))
        #expect(ToolRun("pin", certificate, key, "--as", "policy", "-o", "-").output == printed.output)
        #expect(ToolRun("pin", certificate, "./absent.key", "--as", "policy", "-o", file).code == 2)
        #expect(try directory.read("policy.json") == Array(printed.output.utf8))
        #expect(ToolRun("pin", certificate, key, "--as", "policy", "-o", certificate).code == 2)
        #expect(ToolRun("pin", certificate, "-o", file).code == 2)
    }

    @Test("--as pem writes the certificates of a source, and nothing else")
    func pem() throws {
        let chain = try directory.write("text before\n" + identity.chainPEM, to: "chain.pem")
        let run = ToolRun("pin", chain, "--as", "pem")
        #expect(run.code == 0 && run.output == identity.chainPEM)
        let key = try directory.write(try PrivateKey().publicPEM, to: "backup.pem")
        #expect(ToolRun("pin", key, "--as", "pem").code == 2)
    }

    @Test("Several certificates in DER, one behind the other, are named as such, also as an anchor")
    func concatenated() throws {
        let der = identity.certificate.der + authority.certificate.der
        let file = try directory.write(der, to: "chain.der")
        let run = ToolRun("pin", file)
        #expect(run.code == 2 && run.errors.contains("several DER values one behind the other"), "\(run.errors)")
        let policy = try directory.write(
            #"{"version": 1, "hosts": [{"host": "example.test", "anchors": {"include": ["chain.der"]}}]}"#, to: "p.json"
        )
        #expect(ToolRun("lint", policy).output.contains("several DER values one behind the other"))
        // The twins: one certificate, and one that is cut off.
        #expect(ToolRun("pin", try directory.write(identity.certificate.der, to: "one.der")).code == 0)
        let cut = ToolRun("pin", try directory.write(Array(der.prefix(200)), to: "cut.der"))
        #expect(cut.code == 2 && !cut.errors.contains("several"))
    }

    @Test("A snippet uses the common name of a certificate without alternative names, with a warning")
    func commonName() throws {
        func snippet(_ name: String) throws -> ToolRun {
            let certificate = directory.path(of: "cn.pem")
            let key = directory.path(of: "cn.key")
            let made = try runProcess([
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                "-subj", "/CN=\(name)",
            ])
            try #require(made.status == 0)
            return ToolRun("pin", certificate, "--as", "curl")
        }
        let run = try snippet("nas.example.test")
        #expect(run.code == 0)
        #expect(run.output.hasSuffix(" https://nas.example.test/\n"))
        #expect(run.errors.contains("has no subject alternative name"))
        #expect(try snippet("Jane Doe").code == 2)
        #expect(
            !ToolRun("pin", try directory.write(identity.certificate.pem, to: "san.pem"), "--as", "curl").errors
                .contains("subject alternative name"))
    }

    @Test("The tool uses colours only on terminals that support them")
    func colours() throws {
        let expired = try authority.issue(hosts: ["example.test"]) { $0.notAfter = .fromNow(days: -1) }
        let path = try directory.write(expired.certificate.pem, to: "expired.pem")
        #expect(ToolRun("pin", path, terminalWidth: 80).output.contains("\u{1B}[31m"))
        #expect(!ToolRun("pin", path).output.contains("\u{1B}"))
        #expect(!ToolRun("pin", path, "--no-color", terminalWidth: 80).output.contains("\u{1B}"))
        #expect(!ToolRun("pin", path, environment: ["NO_COLOR": "1"], terminalWidth: 80).output.contains("\u{1B}"))
        #expect(!ToolRun("pin", path, environment: ["TERM": "dumb"], terminalWidth: 80).output.contains("\u{1B}"))
    }
}
