import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

/// Attacks that try to produce an answer which the user did not give.
extension AskTests {
    @Test("Input from before the question does not answer it")
    func typeAhead() throws {
        // The user answers no once the question is on the screen.
        let run = try ask(answers: ["no\n"], early: "yes\n")
        #expect(run.code == 1 && run.screen.contains("nothing was stored\n"))
        #expect(try ask(answers: ["no\n"], early: "yes").code == 1)
        // The rest of a paste does not answer the second question either.
        let paste = try ask(answers: ["well\nyes\n", "no\n"])
        #expect(paste.code == 1)
        #expect(try approvals().isEmpty)
        #expect(try ask(answers: ["yes\n"], early: "no\n").code == 0)
        #expect(try approvals().count == 1)
    }

    @Test("A yes does not override the decision of another process during the question")
    func overtaken() throws {
        #expect(try ask("yes\n").code == 0)
        #expect(ToolRun("trust", "revoke", "nas.test", "--store", store).code == 0)
        let (store, key) = (store, try PublicKeyPin(subjectPublicKeyInfo: home.certificate.spkiDER))
        // Meanwhile another process approves the server and revokes the approval, with a reason.
        let run = try ask(answers: ["yes\n"]) {
            _ = ToolRun("trust", "approve", "nas.test", "--key", "\(key)", "--store", store)
            _ = ToolRun("trust", "revoke", "nas.test", "--store", store)
        }
        #expect(run.code == 1)
        #expect(
            run.screen.contains("something else has been said about the server since it was shown: nas.test:443: key"))
        #expect(run.screen.contains("nothing was stored: check the server again"))
        #expect(try approvals().first?["state"]?.string == "revoked")
        // If the other process decides about another server, the answer counts.
        let other = try ask(answers: ["yes\n"]) {
            _ = ToolRun("trust", "approve", "b.test", "--key", "\(key)", "--store", store)
        }
        #expect(other.code == 0)
        #expect(try approvals().compactMap { $0["state"]?.string } == ["live", "live"])
    }

    @Test("A damaged store may have approved another certificate, so no question is asked until the file is moved away")
    func damagedStore() throws {
        #expect(try ask("yes\n").code == 0)
        let whole = try directory.read("trust.json")
        let other = try LoopbackTLSServer(try .selfSigned(hosts: ["nas.test"]))
        let alarm = try ask("yes\n", at: other)
        #expect(alarm.code == 1 && alarm.screen.contains("REJECTED   pin-mismatch   nas.test:443\n"))
        let damaged = Array(whole.dropLast(3))
        try directory.write(damaged, to: "trust.json")
        for _ in 0..<2 {
            let run = try ask("yes\n", at: other)
            #expect(run.code == 1)
            #expect(run.screen.contains("REJECTED   unknown-host   nas.test:443\n"))
            #expect(run.screen.contains("; earlier approvals cannot be read\n"))
            #expect(run.screen.contains("set it aside: mv \(store) \(store).old\n"))
            #expect(!run.screen.contains("First contact") && !run.screen.contains("Trust this certificate"))
            #expect(try directory.read("trust.json") == damaged)
        }
        let document = try ToolRun(arguments: arguments(at: other) + ["--json"]).json()
        #expect(document["approvalRecord"]?.string == "unreadable")
        // A change moves the damaged store aside. Its contents are still unknown.
        #expect(ToolRun("trust", "approve", "b.test", "--key", Self.someKey, "--store", store).code == 1)
        #expect(try directory.read("trust.json.corrupt") == damaged)
        let lost = try ask("yes\n", at: other)
        #expect(lost.code == 1 && !lost.screen.contains("Trust this certificate"))
        #expect(lost.screen.contains("; earlier approvals may be lost\n"))
        // Moving the file away means that the user has looked into it and accepts the loss.
        #expect(rename("\(store).corrupt", "\(store).old") == 0)
        #expect(try ask("yes\n", at: other).code == 0)
        #expect(try approvals().count == 2)
    }

    private static let someKey = "sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="

    @Test("Names in a certificate cannot rewrite the question")
    func hostileNames() throws {
        let hostile =
            "\u{1B}[2J\u{1B}[Hgood\u{202E}\u{200F}\u{2066}\nTrust this certificate for nas.test:443? yes\r\u{07}"
        let long = String(repeating: "very.", count: 400) + "long"
        let bad = try Identity.selfSigned(hosts: ["nas.test"]) { template in
            template.subject = [.commonName(hostile + long)]
            template.subjectAltNames.append(.uri(long))
        }
        let run = try ask("no\n", at: try LoopbackTLSServer(bad))
        #expect(run.code == 1)
        let unsafe = run.screen.unicodeScalars.filter { $0.isUnsafeToPrint && $0 != "\n" }
        #expect(unsafe.isEmpty)
        let lines = run.screen.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("Trust this certificate for") }.count == 1)
        #expect(lines.allSatisfy { $0.count <= 120 })
        #expect(run.screen.contains("First contact with nas.test:443"))
    }

    @Test("Wide letters, right-to-left letters and thousands of names do not move any line")
    func wideNames() throws {
        let wide = String(repeating: "\u{9280}", count: 300)
        let hebrew = "\u{5D0}\u{5D1} 2099-12-31"
        let stacked = "\u{1112}" + String(repeating: "\u{1161}", count: 3_000)
        let bad = try Identity.selfSigned(hosts: ["nas.test"]) { template in
            template.subject = [.commonName(wide), .organization(hebrew), .organization(stacked)]
            template.subjectAltNames += (0..<2_000).map { .host("host-\($0).test") }
            template.subjectAltNames.append(.uri(String(repeating: "x", count: 5_000)))
        }
        let stranger = try LoopbackTLSServer(bad)
        let quiet = ToolRun(arguments: arguments(at: stranger))
        let screens = [try ask("no\n", at: stranger).screen, quiet.output]
        for screen in screens {
            #expect(screen.contains("  nas.test, host-0.test"))
            #expect(screen.contains(" more\n"))
            #expect(!screen.unicodeScalars.contains { (0x590...0x8FF).contains($0.value) })
            for line in screen.split(separator: "\n") {
                // Questions and commands may be longer than a line.
                if ["Trust this", "next: ", "      pintle "].contains(where: line.hasPrefix) { continue }
                let columns = line.unicodeScalars.reduce(0) { $0 + ([0x9280, 0x1112].contains($1.value) ? 2 : 1) }
                #expect(columns <= 80, "\(line)")
            }
        }
        #expect(ToolRun(arguments: arguments(at: stranger) + ["-v"]).output.contains("host-1999.test"))
    }

    @Test("A certificate for another purpose is not accepted as a server's, even with an approval")
    func purpose() throws {
        func server(_ purposes: [DERWriter.OID]) throws -> (LoopbackTLSServer, Identity) {
            let identity = try Identity.selfSigned(hosts: ["nas.test"]) { $0.extendedKeyUsage = purposes }
            return (try LoopbackTLSServer(identity), identity)
        }
        let (signing, identity) = try server([.codeSigning])
        let run = try ask("yes\n", at: signing)
        #expect(run.code == 1 && !run.screen.contains("Trust this certificate"))
        #expect(run.screen.contains("\n  it cannot be approved: unsuitable-purpose, "))
        #expect(run.screen.contains("\n  purpose codeSigning\n"))
        #expect(
            ToolRun("trust", "approve", "nas.test", "--certificate", "\(fingerprint(identity))", "--store", store).code
                == 0)
        let refused = ToolRun(arguments: arguments(at: signing))
        #expect(refused.code == 1)
        #expect(refused.output.hasPrefix("REJECTED   invalid-path   unsuitable-purpose   nas.test:443\n"))
        #expect(
            refused.output.contains("  The leaf certificate is not for TLS servers. An approval cannot accept that.\n"))
        #expect(ToolRun("trust", "revoke", "nas.test", "--store", store).code == 0)
        // The question shows the purposes of a certificate that may be a server's.
        let asked = try ask("yes\n", at: try server([.serverAuth, .clientAuth]).0)
        #expect(asked.code == 0)
        #expect(asked.screen.contains("\n  purposes     serverAuth, clientAuth\n"))
    }
}
