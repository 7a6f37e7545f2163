import FoundationEssentials
import Pintle
import PintlePolicyFile
import PintleTestKit
import PintleTestPeers
import Testing

/// `check` at servers that ask for a client certificate.
@Suite("check --identity")
struct CheckIdentityTests {
    let directory: TemporaryDirectory
    let authority: PintleTestKit.CertificateAuthority
    let server: Identity
    let clients: PintleTestKit.CertificateAuthority
    let client: Identity
    let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.root(name: "Root")
        server = try authority.issue(hosts: ["example.test"])
        clients = try CertificateAuthority.root(name: "Client Authority")
        client = try clients.issueClient()
        anchors = try directory.write(authority.certificate.pem, to: "root.pem")
        try directory.write(client.certificate.pem + client.key.pem, to: "client.pem")
    }

    private func loopback(
        isRequired: Bool = true, refusesAll: Bool = false, _ version: LoopbackTLSServer.Version = .tls13
    ) throws -> LoopbackTLSServer {
        try LoopbackTLSServer(server) { configuration in
            configuration.clientCertificateQuestion = .init(
                isRequired: isRequired, authorities: [clients.certificate], refusesAll: refusesAll)
            configuration.versions = version...version
        }
    }

    private func check(
        _ server: LoopbackTLSServer, pinning key: [UInt8]? = nil, _ options: [String],
        environment: [String: String] = [:]
    ) throws -> ToolRun {
        let pin = try PublicKeyPin(subjectPublicKeyInfo: key ?? self.server.certificate.spkiDER)
        let policy = try directory.write(
            #"{"version": 1, "hosts": [{"host": "example.test", "pins": ["\#(pin)"], "backupPins": "none-accepted"}]}"#,
            to: "policy.json")
        return ToolRun(
            arguments: [
                "check", "https://example.test/", "--policy", policy, "--connect-to", "127.0.0.1:\(server.port)",
                "--anchors", anchors,
            ] + options, environment: environment.merging(["LANG": "C.UTF-8"]) { $1 })
    }

    @Test("The server gets the identity after the verdict", arguments: [LoopbackTLSServer.Version.tls12, .tls13])
    func shown(version: LoopbackTLSServer.Version) throws {
        let server = try loopback(version)
        let run = try check(server, ["--identity", directory.path(of: "client.pem")])
        #expect(run.code == 0 && run.errors.isEmpty)
        #expect(
            run.output.contains(
                "client  asked for a certificate, and took \(CertificatePin(certificate: client.certificate.der))"))
        #expect(server.waitUntilClosed())
        #expect(server.connections.first?.clientCertificates == [client.certificate.der])
        #expect(server.requestByteCount == 0)
    }

    @Test(
        "Without an identity, the error says what the server accepts",
        arguments: [LoopbackTLSServer.Version.tls12, .tls13])
    func required(version: LoopbackTLSServer.Version) throws {
        let run = try check(try loopback(version), [])
        let sentence = "example.test:443 requires a client certificate, and got none: none was given for it"
        // The server has proved its key before it refuses, so there is a verdict.
        #expect(run.code == 0 && run.output.hasPrefix("trusted   pin-matched"), "\(run.errors)")
        let text = run.output
        #expect(text.contains(sentence) && text.contains("CN=Client Authority") && text.contains("--identity FILE"))
        // A server that only asks gets the usual verdict.
        let asked = try check(try loopback(isRequired: false, version), ["--json"])
        let document = try JSONDocument(Array(asked.output.utf8)).root
        #expect(asked.code == 0 && document["clientCertificate"]?["withheld"]?.string == "no-identity")
        #expect(document["clientCertificate"]?["authorities"]?.elements?.map(\.string) == ["CN=Client Authority"])
    }

    @Test(
        "A server that refuses the certificate, in or after the handshake",
        arguments: [LoopbackTLSServer.Version.tls12, .tls13])
    func refused(version: LoopbackTLSServer.Version) throws {
        let run = try check(
            try loopback(refusesAll: true, version), ["--identity", directory.path(of: "client.pem"), "--json"])
        let document = try JSONDocument(Array(run.output.utf8)).root
        #expect(run.code == 0 && document["clientCertificate"]?["ended"]?.boolean == true)
        #expect(document["clientCertificate"]?["shown"]?.string != nil && document["alert"] == nil)
    }

    @Test(
        "There is no verdict if the server ends the handshake before it has proved its key", arguments: [true, false])
    func unproven(isRSAKeyExchange: Bool) throws {
        let rsa = try authority.issue(hosts: ["example.test"], keyType: .rsa(bits: 2_048))
        let suite = isRSAKeyExchange ? "AES128-GCM-SHA256" : "ECDHE-RSA-AES128-GCM-SHA256"
        let server = try SServer(rsa, ["-Verify", "3", "-verify_quiet", "-tls1_2", "-cipher", suite])
        let pin = try PublicKeyPin(subjectPublicKeyInfo: rsa.certificate.spkiDER)
        let policy = try directory.write(
            #"{"version": 1, "hosts": [{"host": "example.test", "pins": ["\#(pin)"], "backupPins": "none-accepted"}]}"#,
            to: "policy.json")
        let run = ToolRun(arguments: [
            "check", "https://example.test/", "--policy", policy, "--connect-to", "127.0.0.1:\(server.port)",
            "--anchors", anchors, "--json",
        ])
        #expect(run.code == (isRSAKeyExchange ? 3 : 0), "\(run.output)")
        #expect(run.output.contains("client-certificate-required") == isRSAKeyExchange)
        #expect(run.output.contains("pin-matched") != isRSAKeyExchange)
    }

    @Test(
        "Audit and lint judge a server that requires a client certificate, and show it one", arguments: [true, false])
    func surveys(hasIdentity: Bool) throws {
        let server = try loopback(.tls12)
        _ = try check(server, [])
        let policy = directory.path(of: "policy.json")
        let options =
            ["--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors, "--json"]
            + (hasIdentity ? ["--identity", directory.path(of: "client.pem")] : [])
        let audit = ToolRun(arguments: ["audit", policy] + options)
        let record = try JSONDocument(Array(audit.output.utf8)).root
        #expect(audit.code == 0 && record["reason"]?.string == "pin-matched", "\(audit.output) \(audit.errors)")
        let lint = ToolRun(arguments: ["lint", policy, "--live"] + options)
        let ids = try lint.json()["problems"]?.elements?.compactMap { $0["id"]?.string } ?? []
        for ids in [ids, record["problems"]?.elements?.compactMap { $0["id"]?.string } ?? []] {
            #expect(ids.contains("live-client-certificate-required") != hasIdentity, "\(ids)")
        }
        #expect((record["clientCertificate"]?["shown"] != nil) == hasIdentity)
    }

    @Test("An interceptor gets nothing", arguments: [LoopbackTLSServer.Version.tls12, .tls13])
    func interceptor(version: LoopbackTLSServer.Version) throws {
        let server = try loopback(version)
        let run = try check(
            server, pinning: try PrivateKey().spkiDER, ["--identity", directory.path(of: "client.pem")])
        #expect(run.code == 1 && run.output.contains("pin-mismatch"))
        #expect(server.waitUntilClosed())
        #expect(server.connections.allSatisfy { $0.clientCertificates.isEmpty && !$0.hasClientSignature })
    }

    @Test("The code says why a server that only asks gets nothing")
    func withheld() throws {
        let rsa = try authority.issue(hosts: ["example.test"], keyType: .rsa(bits: 2_048))
        let pinned = #""pins": ["\#(try PublicKeyPin(subjectPublicKeyInfo: rsa.certificate.spkiDER))"]"#
        let rsaKeysOnly = ["-client_sigalgs", "RSA-PSS+SHA256"]
        for (options, members, code) in [
            ([], pinned + #", "backupPins": "none-accepted""#, nil),
            ([], #""pins": []"#, "weak-basis"),
            (
                ["-tls1_2", "-cipher", "AES128-GCM-SHA256"], pinned + #", "backupPins": "none-accepted""#,
                "unproven-key"
            ),
            (rsaKeysOnly, pinned + #", "backupPins": "none-accepted""#, "unsuitable"),
        ] {
            let server = try SServer(rsa, ["-verify", "3", "-verify_quiet"] + options)
            let policy = try directory.write(
                #"{"version": 1, "hosts": [{"host": "example.test", \#(members)}]}"#, to: "policy.json")
            let run = ToolRun(arguments: [
                "check", "https://example.test/", "--policy", policy, "--connect-to", "127.0.0.1:\(server.port)",
                "--anchors", anchors, "--identity", directory.path(of: "client.pem"), "--json",
            ])
            let use = try JSONDocument(Array(run.output.utf8)).root["clientCertificate"]
            #expect(run.code == 0 && use?["withheld"]?.string == code, "\(run.output)")
            #expect((use?["shown"] != nil) == (code == nil))
            #expect(
                use?["misfits"]?.elements?.map(\.string) == (code == "unsuitable" ? ["key-type", "signature"] : nil))
        }
    }

    @Test("PKCS#12 and PEM with a password from the environment, and files that are no identity")
    func files() throws {
        let made = try runProcess(
            [
                "openssl", "pkcs12", "-export", "-passout", "pass:open sesame", "-out",
                directory.path(of: "client.p12"),
            ], input: Array((client.key.pem + client.certificate.pem).utf8))
        try #require(made.status == 0)
        let server = try loopback()
        let p12 = ["--identity", directory.path(of: "client.p12")]
        let run = try check(server, p12, environment: ["PINTLE_KEY_PASSPHRASE": "open sesame"])
        #expect(run.code == 0 && run.output.contains("asked for a certificate, and took"))
        let withoutMAC = try runProcess(
            [
                "openssl", "pkcs12", "-export", "-nomac", "-passout", "pass:open sesame", "-out",
                directory.path(of: "n.p12"),
            ],
            input: Array((client.key.pem + client.certificate.pem).utf8))
        try #require(withoutMAC.status == 0)
        let opened = try check(
            server, ["--identity", directory.path(of: "n.p12")], environment: ["PINTLE_KEY_PASSPHRASE": "open sesame"])
        #expect(opened.output.contains("asked for a certificate, and took"))
        let encrypted = try runProcess(
            ["openssl", "pkcs8", "-topk8", "-passout", "pass:open sesame"], input: Array(client.key.pem.utf8))
        let pem = try directory.write(
            client.certificate.pem + encrypted.output, to: "encrypted.pem")
        let asked = try check(server, ["--identity", pem], environment: ["PINTLE_KEY_PASSPHRASE": "open sesame"])
        #expect(asked.output.contains("asked for a certificate, and took"))
        let wrong = try check(server, p12, environment: ["PINTLE_KEY_PASSPHRASE": "sesame"])
        #expect(wrong.code == 2 && wrong.errors.contains("the password does not open the PKCS#12 file"))
        #expect(!wrong.errors.contains("sesame"))
        let noKey = try check(server, ["--identity", anchors])
        #expect(noKey.code == 2 && noKey.errors.contains("there is no private key"))
    }
}
