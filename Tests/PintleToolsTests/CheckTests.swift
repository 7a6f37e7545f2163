import FoundationEssentials
import Pintle
import PintleAttacks
import PintlePolicyFile
import PintleTestKit
import Testing

@Suite("Live servers")
struct CheckTests {
    let directory: TemporaryDirectory
    let authority: PintleTestKit.CertificateAuthority
    let identity: Identity
    let server: LoopbackTLSServer
    let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.root(name: "Root")
        identity = try authority.issue(hosts: ["example.test"])
        server = try LoopbackTLSServer(identity)
        anchors = try directory.write(authority.certificate.pem, to: "root.pem")
    }

    private static let strange = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="
    private static let spare = "sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="

    private func pin(_ certificate: MintedCertificate) throws -> String {
        try PublicKeyPin(subjectPublicKeyInfo: certificate.spkiDER).description
    }

    private func policy(pins: [String], extra: String = "", top: String = "") throws -> String {
        let list = pins.map { "\"\($0)\"" }.joined(separator: ",")
        return try directory.write(
            """
            {"version": 1, \(top) "hosts": [{"host": "example.test", "pins": [\(list)],
             "backupPins": ["\(Self.spare)"] \(extra)}]}
            """, to: "policy.json")
    }

    private func check(_ url: String = "https://example.test/", policy: String, _ options: String...) -> ToolRun {
        ToolRun(
            arguments: [
                "check", url, "--policy", policy, "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors,
            ] + options)
    }

    @Test("Check warns of an entry of NO_PROXY that it skips, and uses the other entries")
    func skippedException() throws {
        let proxy = try LoopbackProxy(.httpConnect)
        for (list, isSkipped, usesProxy) in [
            ("<local>,127.0.0.1", true, false), ("127.0.0.1", false, false), ("<local>", true, true),
        ] {
            let before = proxy.connections.count
            let run = ToolRun(
                arguments: [
                    "check", "https://example.test/", "--policy", try policy(pins: [try pin(identity.certificate)]),
                    "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors,
                ], environment: ["HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)/path", "NO_PROXY": list])
            #expect(run.code == 0, "\(run.errors)")
            #expect(run.errors.contains("warning: NO_PROXY has entries") == isSkipped)
            #expect(proxy.connections.count == before + (usesProxy ? 1 : 0))
        }
    }

    @Test("Check trusts a pinned server and shows the rule, the path and the pin")
    func trusted() throws {
        let run = check(policy: try policy(pins: [try pin(identity.certificate)]))
        #expect(run.code == 0)
        #expect(run.errors.isEmpty)
        #expect(
            run.output.hasPrefix(
                """
                trusted   pin-matched   example.test:443

                  rule    example.test, exact; enforced
                  path    leaf  \(try pin(identity.certificate))  <- pin 1
                          root  \(try pin(authority.certificate))  not sent
                  backup  \(Self.spare)  not in use, as it should be

                next: nothing to do until 
                """))
        #expect(server.waitUntilClosed())
        #expect(server.requestByteCount == 0)
    }

    @Test(
        "An address that bypasses the rule for this machine cannot be checked, and the address of the rule can",
        arguments: [("0.0.0.0", 2), ("[::]", 2), ("[::ffff:127.0.0.1]", 2), ("127.0.0.1", 1), ("[::1]", 1)])
    func alias(host: String, code: Int32) throws {
        let rules = ["127.0.0.1", "::1"].map {
            #"{"host": "\#($0)", "pins": ["\#(Self.strange)"], "#
                + #""backupPins": ["\#(Self.spare)"]}"#
        }
        let policy = try directory.write(
            #"{"version": 1, "hosts": [\#(rules.joined(separator: ","))]}"#, to: "policy.json")
        let own = try LoopbackTLSServer(authority.issue(hosts: ["127.0.0.1", "::1", "0.0.0.0", "::"]))
        let run = ToolRun(
            arguments: [
                "check", "https://\(host):\(own.port)/", "--policy", policy, "--anchors", anchors, "--json",
                "--connect-to", "127.0.0.1:\(own.port)",
            ])
        #expect(run.code == code)
        let answer = try run.json()
        #expect(answer["error"]?["code"]?.string == (code == 2 ? "invalid-host" : nil))
        #expect(answer["reason"]?.string == (code == 2 ? nil : "pin-mismatch"))
        #expect(own.connectionCount == (code == 2 ? 0 : 1))
    }

    @Test("Check refuses a server with another key inside the handshake, by an alert")
    func mismatch() throws {
        let run = check(policy: try policy(pins: [Self.strange]))
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   pin-mismatch   example.test:443\n"))
        #expect(run.output.contains("  wanted  pin     \(Self.strange)\n          backup  \(Self.spare)\n"))
        #expect(run.output.contains("  nearest nothing in common\n"))
        #expect(server.waitUntilClosed())
        #expect(server.alertsReceived.map(\.code) == [46])
        #expect(server.completedHandshakeCount == 0)
    }

    @Test(
        "A path that does not meet the rule's terms is refused by name, with the rule and the path; one that does is trusted"
    )
    func pathTerms() throws {
        let pins = [try pin(identity.certificate)]
        let run = check(policy: try policy(pins: pins, extra: ", \"minimumPathLength\": 3"))
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   invalid-path   other   example.test:443\n"))
        #expect(run.output.contains("minimumPathLength is 3"))
        #expect(run.output.contains("  rule    example.test, exact; enforced\n"))
        #expect(run.output.contains("  path    leaf  \(pins[0])\n"))
        #expect(run.output.contains("change the rule's minimumPathLength or issuerKey"))
        let issuer = ", \"issuerKey\": \"\(try pin(authority.certificate))\""
        #expect(check(policy: try policy(pins: pins, extra: ", \"minimumPathLength\": 2" + issuer)).code == 0)
        let json = try check(
            policy: try policy(pins: pins, extra: ", \"issuerKey\": \"\(Self.strange)\""), "--json"
        ).json()
        #expect(json["reason"]?.string == "invalid-path" && json["pathFailure"]?.string == "other")
    }

    @Test("The JSON has the keys of the contract", arguments: [true, false])
    func json(isPinned: Bool) throws {
        let pin = isPinned ? try pin(identity.certificate) : Self.strange
        let run = check(policy: try policy(pins: [pin]), "--json")
        #expect(run.code == (isPinned ? 0 : 1))
        let document = try run.json()
        let verdict = isPinned ? ["matchedPin", "depth", "rule"] : ["rule", "nearestMiss"]
        #expect(
            ToolRun.keys(document).prefix(while: { !["tlsVersion", "keyExchangeGroup", "alert"].contains($0) })
                == ["host", "port", "decision", "reason"] + verdict
                + ["configuredPins", "presentedCertificates", "validatedPath"])
        #expect(document["port"]?.integer == 443)
        #expect(document["rule"]?.string == "example.test")
        #expect(document["configuredPins"]?.elements?.compactMap(\.string) == [pin, Self.spare])
        let path = try #require(document["validatedPath"]?.elements.map(Array.init))
        #expect(path.compactMap { $0["position"]?.string } == ["leaf", "root"])
        #expect(
            ToolRun.keys(path[0]) == ["position", "subject", "issuer", "certificateSHA256", "spkiPin", "notAfter"])
        #expect(document["presentedCertificates"]?.count == 1)
    }

    @Test("An invalid path is refused whatever the pins say, at the time given with --at")
    func expired() throws {
        let policy = try policy(pins: [try pin(identity.certificate)])
        let run = check(policy: policy, "--at", "2099-01-01T00:00:00Z")
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   invalid-path   expired   example.test:443\n"))
        let words = run.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("Pins were not compared: a pin never makes an invalid path acceptable."))
        #expect(check(policy: policy).code == 0)
        #expect(check(policy: policy, "--at", "tomorrow").code == 2)
    }

    @Test("Check refuses a certificate for another name and lists its names")
    func nameMismatch() throws {
        let run = check("https://other.test", policy: try policy(pins: [Self.strange]))
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   invalid-path   name-mismatch   other.test:443\n"))
        #expect(run.output.contains("  The certificate is not for other.test. "))
        #expect(run.output.contains("  names   example.test\n"))
        let nameless = try authority.issue(hosts: ["example.test"]) { $0.subjectAltNames = [] }
        try server.replaceCredential(.init(chain: nameless.chain, key: nameless.key))
        let none = check(policy: try policy(pins: [Self.strange]))
        #expect(none.output.hasPrefix("REJECTED   invalid-path   name-mismatch   example.test:443\n"))
        #expect(none.output.contains("  The certificate has no subject alternative name, "))
    }

    @Test("The text about an unknown host shows the values that a user compares")
    func unknownHost() throws {
        let other = try policy(pins: [Self.strange], top: "\"unpinnedHosts\": \"askUser\",")
        server.close()
        let nas = try LoopbackTLSServer(try Identity.selfSigned(hosts: ["nas.test"]))
        let run = ToolRun(
            "check", "nas.test", "--policy", other, "--connect-to", "127.0.0.1:\(nas.port)", "--anchors", anchors)
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   unknown-host   nas.test:443\n"))
        #expect(run.output.contains("self-signed; system trust would refuse it; never approved"))
    }

    @Test("Check refuses a host that is not allowed, and the text says that no rule covers it")
    func notAllowed() throws {
        let other = try policy(pins: [Self.strange], top: "\"unpinnedHosts\": \"reject\",")
        let run = check("https://other.test", policy: other)
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   host-not-allowed   other.test:443\n"))
        #expect(run.output.contains("\n\n  rule    none covers this host; such hosts are refused\n\nnext: "))
    }

    @Test("Check reports missing extensions of the profile by name, with openssl's options for them")
    func missingExtensions() throws {
        server.close()
        let plain = try authority.issue(hosts: ["example.test"]) { $0.authorityKeyIdentifier = .absent }
        let home = try LoopbackTLSServer(plain)
        let run = ToolRun(
            "check", "example.test", "--policy", try policy(pins: [try pin(plain.certificate)]), "--connect-to",
            "127.0.0.1:\(home.port)", "--anchors", anchors)
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   invalid-path   other   example.test:443\n"))
        #expect(run.output.contains("authorityKeyIdentifier=keyid"))
        // The rule may bring the root, as the advice says.
        #expect(run.output.contains(#""anchors": {"include": ["root.pem"]}"#))
        let rule = try policy(
            pins: [try pin(plain.certificate)], extra: #", "anchors": {"include": ["root.pem"]}"#)
        let own = ToolRun(
            "check", "example.test", "--policy", rule, "--connect-to", "127.0.0.1:\(home.port)", "--anchors", anchors)
        #expect(own.code == 0)
    }

    @Test("Check says that a certificate policy is missing, and what to do")
    func certificatePolicy() throws {
        server.close()
        let strict = try authority.intermediate {
            $0.extraExtensions = [.certificatePolicies([[2, 999, 1]]), .policyConstraints(requireExplicitPolicy: 0)]
        }
        func run(_ policies: [DERWriter.OID]) throws -> ToolRun {
            let identity = try strict.issue(hosts: ["example.test"]) {
                $0.extraExtensions = [.certificatePolicies(policies)]
            }
            let server = try LoopbackTLSServer(identity)
            return ToolRun(
                "check", "example.test", "--policy", try policy(pins: [try pin(identity.certificate)]), "--connect-to",
                "127.0.0.1:\(server.port)", "--anchors", anchors)
        }
        let refused = try run([[2, 999, 2]])
        #expect(refused.code == 1)
        #expect(refused.output.hasPrefix("REJECTED   invalid-path   no-valid-certificate-policy   example.test:443\n"))
        #expect(refused.output.contains("requires a certificate policy, and none is valid on"))
        #expect(refused.output.contains("issued with a policy that its authority allows,\n"))
        #expect(try run([[2, 999, 1]]).code == 0)
    }

    @Test("A server that does not answer gives exit code 3, with its error in JSON")
    func unreachable() throws {
        let policy = try policy(pins: [Self.strange])
        server.close()
        let run = check(policy: policy, "--json")
        #expect(run.code == 3)
        #expect(ToolRun.keys(try run.json()["error"]) == ["code", "message", "hint"])
        #expect(try run.json()["error"]?["code"]?.string == "connection-refused")
    }

    @Test(
        "An unusable command line exits with code 2",
        arguments: [
            ["check", "https://example.test"], ["check", "http://example.test", "--policy", "P"],
            ["check", "https://user@example.test", "--policy", "P"], ["check", "example.test:0", "--policy", "P"],
            ["check", "https://b\u{FC}cher.test", "--policy", "P"], ["check", "https://127.1/", "--policy", "P"],
            ["check", "example.test", "--policy", "missing.json"],
            ["check", "example.test", "--policy", "P", "--connect-timeout", "never"],
            ["check", "example.test", "--policy", "P", "--ask"],
        ])
    func unusable(arguments: [String]) throws {
        let path = try policy(pins: [Self.strange])
        let run = ToolRun(arguments: arguments.map { $0 == "P" ? path : $0 })
        #expect(run.code == 2)
        #expect(run.output.isEmpty)
    }

    @Test("Check prints every problem of an unusable policy")
    func brokenPolicy() throws {
        let path = try directory.write("{\"version\": 1,\n \"hosts\": [], \"a\": 1, \"b\": 2}", to: "policy.json")
        let run = ToolRun("check", "example.test", "--policy", path)
        #expect(run.code == 2)
        #expect(run.errors.contains("\(path):2:15: "))
        #expect(run.errors.split(separator: "\n").count { $0.hasPrefix("pintle: error: ") } == 2)
    }

    @Test("Only on a machine without roots, check says that there are none")
    func noRoots() throws {
        let arguments = [
            "check", "example.test", "--policy", try policy(pins: [try pin(identity.certificate)]), "--connect-to",
            "127.0.0.1:\(server.port)",
        ]
        let none = directory.path(of: "none")
        for (file, isTold) in [(none, true), (anchors, false)] {
            let run = ToolRun(arguments: arguments, environment: ["SSL_CERT_FILE": file, "SSL_CERT_DIR": none])
            #expect(run.output.hasPrefix("REJECTED   invalid-path   untrusted-root"))
            #expect(run.output.contains("this machine has no roots at all") == isTold)
        }
    }

    @Test("Pin lists the pins of a live server in the order of the path, and sends no request")
    func livePins() throws {
        let run = ToolRun(
            "pin", "example.test", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors, "--json")
        #expect(run.code == 0)
        let listing = try #require(try run.json().elements?.first { _ in true })
        #expect(listing["source"]?.string == "example.test:443")
        #expect(listing["systemVerdict"]?.string == "trusted")
        let certificates = try #require(listing["certificates"]?.elements.map(Array.init))
        #expect(certificates.compactMap { $0["position"]?.string } == ["leaf", "root"])
        #expect(certificates.compactMap { $0["sent"]?.boolean } == [true, false])
        #expect(server.waitUntilClosed())
        #expect(server.requestByteCount == 0)
    }

    @Test("Pin lists even a server that is not trusted, with the certificates beside the path last")
    func untrustedPins() throws {
        let run = ToolRun("pin", "https://example.test/", "--connect-to", "127.0.0.1:\(server.port)")
        #expect(run.code == 0)
        #expect(run.output.hasPrefix("example.test:443   NOT trusted by the system: untrusted-root   TLS 1.3"))
        #expect(run.errors.contains("which to pin: the leaf key"))
        #expect(run.errors.contains("(untrusted-root), and a pin never makes it valid"))

        let stranger = try CertificateAuthority.root(name: "Stranger")
        try server.replaceCredential(
            .init(chain: identity.chain + [stranger.certificate.der], key: identity.key))
        let extra = ToolRun(
            "pin", "example.test", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors)
        #expect(extra.output.contains("extra  CN=Stranger"))
        #expect(extra.output.contains("sent, not on the path: a pin of it would never match"))
        #expect(!extra.errors.contains("a pin never makes it so"))
    }

    @Test("Pin says whether the key of a cross-signed authority beside the path matches")
    func crossSigned() throws {
        let other = try CertificateAuthority.root(name: "Other Root")
        let crossed = try authority.crossSigned(by: other)
        try server.replaceCredential(
            .init(
                chain: identity.chain + [crossed.certificate.der, other.certificate.der], key: identity.key))
        let both = try directory.write(authority.certificate.pem + other.certificate.pem, to: "both.pem")
        func notes(_ anchors: String) -> [String] {
            let run = ToolRun(
                "pin", "example.test", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors)
            return run.output.split(separator: "\n").filter { $0.contains(" note ") }.map {
                $0.drop { $0 == " " }.dropFirst("note".count).drop { $0 == " " }.description
            }
        }
        let onPath = "sent, not on the path: its key is that of root, so a pin of the key matches"
        #expect(notes(anchors) == [onPath, "sent, not on the path: a pin of it would never match"])
        #expect(notes(both) == [onPath, "sent, not on this path: a pin of its key matches on another one"])
    }

    @Test("A policy that pin makes with --anchors has the root of the path, and check needs no --anchors for it")
    func policyWithAnchor() throws {
        let backup = try directory.write(try PrivateKey().pem, to: "backup.key")
        let stranger = try CertificateAuthority.root(name: "Stranger")
        let both = try directory.write(stranger.certificate.pem + authority.certificate.pem, to: "both.pem")
        func made(_ options: String...) throws -> (run: ToolRun, decision: String?) {
            let made = ToolRun(
                arguments: [
                    "pin", "example.test", backup, "--connect-to", "127.0.0.1:\(server.port)", "--as", "policy",
                ] + options)
            let path = try directory.write(made.output, to: "made.json")
            let run = ToolRun(
                arguments: [
                    "check", "https://example.test/", "--policy", path, "--connect-to", "127.0.0.1:\(server.port)",
                    "--json",
                ])
            return (made, try run.json()["decision"]?.string)
        }
        let (run, decision) = try made("--anchors", both)
        #expect(run.code == 0 && decision == "trusted", "\(run.output) \(run.errors)")
        let rule = try run.json()["hosts"]?.elements?.first { _ in true }
        #expect(rule?["anchors"]?["include"]?.elements?.map(\.string) == [authority.certificate.pem])
        let without = try made()
        #expect(!without.run.output.contains("anchors") && without.decision == "rejected")
    }

    @Test("Pin makes a policy that passes check from a host and a backup key")
    func policyFromServer() throws {
        let backup = try directory.write(try PrivateKey().pem, to: "backup.key")
        let made = ToolRun(
            "pin", "example.test", backup, "--connect-to", "127.0.0.1:\(server.port)", "--as", "policy")
        #expect(made.code == 0)
        // This policy accepts no server yet, so a warning comes with it.
        #expect(made.errors.contains("(untrusted-root), and a pin never makes it valid"))
        let path = try directory.write(made.output, to: "made.json")
        #expect(check(policy: path).output.hasPrefix("trusted   pin-matched"))
    }

    @Test("A server that shows a pinned certificate without its key is not trusted, but pin lists its pins")
    func withoutTheKey() throws {
        let policy = try policy(pins: [try pin(identity.certificate)])
        #expect(check(policy: policy).code == 0)
        try server.replaceCredential(.init(chain: identity.chain, key: try PrivateKey()))
        let run = check(policy: policy)
        #expect(run.code == 3)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("did not prove that it holds its key"))

        let pins = ToolRun("pin", "example.test", "--connect-to", "127.0.0.1:\(server.port)", "--anchors", anchors)
        #expect(pins.code == 0)
        #expect(pins.output.contains(try pin(identity.certificate)))
        #expect(pins.errors.contains("the handshake broke after the certificate"))
    }

    @Test("Garbage instead of a certificate is a rejection by check and an error of pin")
    func garbage() throws {
        let policy = try policy(pins: [try pin(identity.certificate)])
        try server.replaceCredential(.init(chain: [[0x30, 0x01, 0x00]], key: identity.key))
        let run = check(policy: policy, "--json")
        #expect(run.code == 1)
        let document = try run.json()
        #expect(document["pathFailure"]?.string == "malformed-certificate")
        #expect(document["presentedCertificates"]?.count == 0)
        #expect(ToolRun("pin", "example.test", "--connect-to", "127.0.0.1:\(server.port)").code == 2)
    }

    @Test("Check names an expired intermediate as the failed certificate")
    func expiredIntermediate() throws {
        let old = try authority.intermediate(name: "Old") { $0.notAfter = .fromNow(days: -2) }
        try server.replaceCredential(.init(try old.issue(hosts: ["example.test"])))
        let run = check(policy: try policy(pins: [Self.strange]))
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   invalid-path   expired   example.test:443\n"))
        #expect(run.output.contains("  failed  1  CN=Old"))
    }

    @Test(
        "An error about garbage in an anchors file names block and line; without the garbage the file is read")
    func anchorFile() throws {
        let policy = try policy(pins: [try pin(identity.certificate)])
        let key = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n"
        func run(_ content: String) throws -> ToolRun {
            let file = try directory.write(content, to: "anchors.pem")
            return ToolRun(
                "check", "https://example.test/", "--policy", policy, "--connect-to", "127.0.0.1:\(server.port)",
                "--anchors", file, "--json")
        }
        #expect(try run("# root\n" + authority.certificate.pem).code == 0)
        let refused = try run("# root\n" + key + authority.certificate.pem)
        #expect(refused.code == 2)
        let error = try refused.json()["error"]
        #expect(error?["code"]?.string == "invalid-anchor" && error?["line"]?.integer == 2)
        #expect(error?["message"]?.string?.hasPrefix("PEM block 1: ") == true)
        #expect(try run("# root\n").json()["error"]?["code"]?.string == "no-anchor")
    }
}
