import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintleTools

/// The question on a terminal about a server that the user has not approved yet.
@Suite("Asking about an unknown server")
struct AskTests {
    let directory: TemporaryDirectory
    let home: Identity
    let server: LoopbackTLSServer
    let policy: String
    let anchors: String
    let authority: PintleTestKit.CertificateAuthority
    let store: String

    init() throws {
        directory = try TemporaryDirectory()
        home = try Identity.selfSigned(hosts: ["nas.test"])
        server = try LoopbackTLSServer(home)
        authority = try CertificateAuthority.root(name: "Root")
        anchors = try directory.write(authority.certificate.pem, to: "root.pem")
        policy = try directory.write(#"{"version": 1, "unpinnedHosts": "askUser", "hosts": []}"#, to: "policy.json")
        store = directory.path(of: "trust.json")
    }

    func arguments(_ host: String = "nas.test", at other: LoopbackTLSServer? = nil) -> [String] {
        [
            "check", "https://\(host)", "--policy", policy, "--anchors", anchors, "--store", store, "--connect-to",
            "127.0.0.1:\((other ?? server).port)",
        ]
    }

    /// - Parameter typed: the answers, one on each line.
    func ask(_ typed: String, at other: LoopbackTLSServer? = nil) throws -> TerminalRun {
        let lines = typed.split(separator: "\n", omittingEmptySubsequences: false)
        let last = lines.last.flatMap { $0.isEmpty ? nil : String($0) }
        return try ask(answers: lines.dropLast().map { $0 + "\n" } + [last].compactMap(\.self), at: other)
    }

    func ask(
        answers: [String], early: String = "", at other: LoopbackTLSServer? = nil,
        meanwhile: @escaping @Sendable () -> Void = {}
    ) throws -> TerminalRun {
        try TerminalRun(arguments(at: other) + ["--ask"], answers: answers, early: early, meanwhile: meanwhile)
    }

    func fingerprint(_ identity: Identity? = nil) -> CertificatePin {
        CertificatePin(certificate: (identity ?? home).certificate.der)
    }

    func approvals() throws -> [JSONValue] {
        let run = ToolRun("trust", "list", "--store", store, "--json")
        #expect(run.code == 0)
        return try run.json()["approvals"]?.elements.map(Array.init) ?? []
    }

    @Test("The question names a wrong name or a past date in words, and a yes accepts exactly that certificate")
    func exceptions() throws {
        let identity = try Identity.selfSigned(hosts: ["router.test"]) { $0.notAfter = .fromNow(days: -1) }
        let device = try LoopbackTLSServer(identity)
        let run = try ask("yes\n", at: device)
        #expect(run.screen.contains("The certificate is not for nas.test."))
        #expect(run.screen.contains("The certificate expired on "))
        let accepted = try approvals().first?["accepts"]?.elements?.compactMap(\.string)
        #expect(accepted == ["self-signed", "name-mismatch", "expired"])
        #expect(ToolRun(arguments: arguments(at: device)).code == 0)
        #expect(ToolRun(arguments: arguments()).code == 1)
    }

    @Test("A yes is stored, and the tool trusts the server at once and from then on")
    func yes() throws {
        let run = try ask("yes\n")
        #expect(run.code == 0)
        let (first, second) = fingerprint().rows
        let pin = try PublicKeyPin(subjectPublicKeyInfo: home.certificate.spkiDER)
        let validity = try Certificate(der: home.certificate.der).validity
        let days = [validity.notBefore, validity.notAfter].map { RFC3339.string(from: $0).prefix(10) }
        #expect(
            run.screen == """
                First contact with nas.test:443. The system does not trust it: self-signed.

                  subject      \(try Certificate(der: home.certificate.der).subject)
                  names        nas.test
                  valid        \(days[0]) to \(days[1])
                  key          EC P-256  \(pin)
                  fingerprint  \(first)
                               \(second)

                Compare the fingerprint with one you got another way (its console, its owner).
                Trust this certificate for nas.test:443? yes, no, or paste the fingerprint [no]: yes
                trusted   user-approved   nas.test:443
                stored in \(store); undo: pintle trust revoke nas.test:443 --store \(store)

                """)
        #expect(server.waitUntilClosed(connections: 2))
        #expect(server.requestByteCount == 0)

        let later = ToolRun(arguments: arguments())
        #expect(later.code == 0)
        #expect(later.output.hasPrefix("trusted   user-approved   nas.test:443\n\n  rule    none covers this host\n"))
        #expect(later.output.contains("  store   its certificate was approved 20"))
        #expect(later.output.contains("; accepted: self-signed\n"))
        let approval = try #require(try approvals().first)
        #expect(
            ToolRun.keys(approval) == ["host", "port", "state", "certificate", "accepts", "approvedAt"])
        #expect(approval["certificate"]?.string == fingerprint().description)
        #expect(approval["accepts"]?.elements?.compactMap(\.string) == ["self-signed"])
    }

    @Test(
        "Only whole words count, and two unclear answers mean no",
        arguments: [
            ("yes\n", true), (" YES \n", true), ("maybe\nyes\n", true), ("y\nYes\n", true), ("no\n", false),
            ("No\n", false), ("\n", false), ("   \n", false), ("\u{04}", false), ("y\nye\nyes\n", false),
            ("maybe\n\nyes\n", false), ("maybe\nno\n", false), ("yes please\nyes!\nyes\n", false),
            ("yesyes\n\u{04}", false), ("trust\n1\nyes\n", false), ("no\nyes\n", false),
        ])
    func words(_ typed: String, _ isYes: Bool) throws {
        let run = try ask(typed)
        #expect(run.code == (isYes ? 0 : 1))
        #expect(try approvals().count == (isYes ? 1 : 0))
        #expect(try approvals().first?["note"] == nil)
        #expect(run.screen.contains("trusted   user-approved   nas.test:443\n") == isYes)
        #expect(run.screen.contains("REJECTED   unknown-host   nas.test:443\nnothing was stored\n") != isYes)
    }

    @Test("Pasting the fingerprint or the pin is a yes, and the note says that it was compared")
    func compared() throws {
        let pin = try PublicKeyPin(subjectPublicKeyInfo: home.certificate.spkiDER)
        let rows = fingerprint().rows
        let colons = fingerprint().colons
        let forms = [
            "\(fingerprint())", colons, colons.replacing(":", with: " "), "\(rows.0)\n\(rows.1)",
            "  \(rows.0)\n  \(rows.1)  ", "sha256 Fingerprint=\(colons)", "SHA256: \(colons)", pin.description,
        ]
        let answers = forms.map { [$0] } + [["?", "\(fingerprint())"]]
        for typed in answers {
            let run = try ask(answers: typed.map { $0 + "\n" })
            #expect(run.code == 0, "\(typed)")
            #expect(try approvals().first?["note"]?.string == "compared")
            #expect(ToolRun("trust", "revoke", "nas.test", "--store", store).code == 0)
        }
    }

    @Test("Another fingerprint is not a yes, and half of the right one is not a yes either")
    func otherFingerprint() throws {
        let other = fingerprint(try .selfSigned(hosts: ["nas.test"]))
        // A wrong fingerprint ends the question. The tool does not take it for a slip and ask again.
        let run = try ask("\(other)\nyes\n")
        #expect(run.code == 1)
        #expect(run.screen.contains("That is not the fingerprint of this certificate.\n"))
        let pin = try PublicKeyPin(subjectPublicKeyInfo: try PrivateKey().spkiDER)
        #expect(try ask("\(pin)\n\n").screen.contains("That is not the key of this certificate.\n"))
        let rows = fingerprint().rows
        #expect(try ask(answers: ["\(rows.0)\n\(rows.0)\n", "\(rows.1)\n\(rows.1)\n"]).code == 1)
        #expect(try approvals().isEmpty)
        #expect(try ask(answers: ["\(rows.0)\n\(rows.1)\n"]).code == 0)
    }

    @Test("A changed certificate raises an alarm and never a question")
    func changed() throws {
        #expect(try ask("yes\n").code == 0)
        let before = try directory.read("trust.json")
        let other = try Identity.selfSigned(hosts: ["nas.test"])
        let stranger = try LoopbackTLSServer(other)
        let run = try ask("yes\nyes\n", at: stranger)
        #expect(run.code == 1)
        let day = RFC3339.string(from: Date()).prefix(10)
        #expect(
            run.screen.hasSuffix(
                """
                REJECTED   pin-mismatch   nas.test:443

                  THE CERTIFICATE OF A SERVER YOU APPROVED HAS CHANGED.
                  approved  \(fingerprint())  on \(day)
                  now       \(fingerprint(other))

                next: if its owner confirms it: pintle trust revoke nas.test:443 --store \(store), then --ask

                """))
        #expect(!run.screen.contains("Trust this certificate"))
        #expect(try directory.read("trust.json") == before)
        #expect(stranger.requestByteCount == 0)
        // A changed certificate raises no question even if the system trusts it.
        let trusted = try LoopbackTLSServer(try authority.issue(hosts: ["nas.test"]))
        #expect(try ask("yes\n", at: trusted).screen.contains("REJECTED   pin-mismatch"))
        // The same holds if the user approved a key.
        let key = try PublicKeyPin(subjectPublicKeyInfo: home.certificate.spkiDER)
        #expect(ToolRun("trust", "revoke", "nas.test", "--store", store).code == 0)
        #expect(ToolRun("trust", "approve", "nas.test", "--key", "\(key)", "--store", store).code == 0)
        #expect(try ask("yes\n", at: stranger).screen.contains("  THE KEY OF A SERVER YOU APPROVED HAS CHANGED.\n"))
        #expect(try ask("no\n").code == 0)
    }

    @Test("Without a terminal the tool asks no question and stores nothing")
    func noTerminal() throws {
        let run = ToolRun(arguments: arguments() + ["--ask"], input: Array("yes\n".utf8))
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   unknown-host   nas.test:443\n"))
        #expect(!run.errors.contains("?"))
        #expect(run.errors.contains("pintle: hint: there is no terminal to ask on"))
        #expect(run.errors.contains("pintle trust approve nas.test:443 --certificate FINGERPRINT --store \(store)"))
        #expect(try approvals().isEmpty)
        #expect(try ask("yes\n").code == 0)
    }

    @Test("The question about a server says if the system trusts it")
    func systemTrusts() throws {
        let trusted = try LoopbackTLSServer(try authority.issue(hosts: ["nas.test"]))
        let run = try ask("yes\n", at: trusted)
        #expect(run.code == 0)
        #expect(run.screen.contains("First contact with nas.test:443. The system trusts it.\n"))
        #expect(run.screen.contains("\n  issuer       CN=Root"))
        #expect(
            ToolRun("trust", "list", "--store", store).output.contains("  accepts   nothing: the system trusted it\n"))
    }

    @Test("The question mentions an earlier approval")
    func history() throws {
        #expect(try ask("yes\n").code == 0)
        #expect(ToolRun("trust", "revoke", "nas.test", "--store", store).code == 0)
        let day = RFC3339.string(from: Date()).prefix(10)
        #expect(try ask("no\n").screen.contains("The approval of nas.test:443 was revoked \(day). The system does"))
        let stranger = try LoopbackTLSServer(try .selfSigned(hosts: ["nas.test"]))
        let run = try ask("no\n", at: stranger)
        #expect(run.screen.contains("was revoked \(day). It shows another certificate now. The system"))
        #expect(run.screen.contains("\n  before       certificate \(fingerprint())\n"))
        let quiet = ToolRun(arguments: arguments(at: stranger))
        #expect(quiet.output.contains("; approved once, for another certificate, and revoked \(day)\n"))
    }

    @Test("The tool asks no question about a failure that cannot be approved", arguments: ["weak-key"])
    func unacceptable(_ code: String) throws {
        let bad = try Identity.selfSigned(hosts: ["nas.test"], keyType: .rsa(bits: 1_024))
        let run = try ask("yes\nyes\n", at: try LoopbackTLSServer(bad))
        #expect(run.code == 1)
        #expect(!run.screen.contains("Trust this certificate"))
        #expect(run.screen.contains("\n  self-signed; system trust would refuse it"))
        #expect(run.screen.contains("\n  it cannot be approved: \(code), "))
        #expect(try approvals().isEmpty)
    }

    @Test("With JSON the question goes to standard error, and standard output has only the document")
    func json() throws {
        var output: [UInt8] = []
        let run = try TerminalRun(
            arguments() + ["--ask", "--json"], answers: ["yes\n"],
            output: ByteSink { bytes in
                output += bytes
                return true
            })
        #expect(run.code == 0)
        #expect(run.screen.contains("Trust this certificate for nas.test:443?"))
        let document = try JSONDocument(output).root
        #expect(document["reason"]?.string == "user-approved")
        #expect(document["approval"]?["certificate"]?.string == fingerprint().description)

        let stranger = try LoopbackTLSServer(try .selfSigned(hosts: ["nas.test"]))
        let mismatch = try ToolRun(arguments: arguments(at: stranger) + ["--json"]).json()
        #expect(mismatch["reason"]?.string == "pin-mismatch")
        #expect(mismatch["approval"]?["state"]?.string == "live")
        #expect(mismatch["nearestMiss"] == nil)
    }

    @Test("The tool refuses options that contradict each other")
    func usage() throws {
        func code(_ more: String...) -> (Int32, String) {
            let run = ToolRun(arguments: ["check", "nas.test", "--policy", policy, "--ask"] + more)
            return (run.code, run.errors)
        }
        #expect(code().0 == 2 && code().1.contains("--ask needs --store FILE"))
        let withTime = code("--store", store, "--at", "2030-01-01T00:00:00Z")
        #expect(withTime.0 == 2 && withTime.1.contains("--at does not go with --ask"))
    }

    @Test("Approvals do not count under a policy without askUser, and a warning says so")
    func policyWithoutAskUser() throws {
        #expect(try ask("yes\n").code == 0)
        try directory.write(#"{"version": 1, "hosts": []}"#, to: "policy.json")
        let run = ToolRun(arguments: arguments())
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("REJECTED   invalid-path   self-signed   nas.test:443\n"))
        #expect(
            run.errors.contains(
                "pintle: warning: approvals do not count, because \"unpinnedHosts\" of the policy is \"systemTrust\""))
    }
}
