import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyTools
@testable import PintleTools

/// The tool as a build without OpenSSL has it.
@Suite("The tool without OpenSSL")
struct WithoutServersTests {
    /// A build that also has no library for keys.
    private struct NoLibraries: Libraries {
        func publicHalf(of key: [UInt8]) throws(ToolError) -> (subjectPublicKeyInfo: [UInt8], isMatching: Bool) {
            throw .needsOpenSSL("reading this key")
        }
        func subjectPublicKeyInfo(ofRSAPublicKey der: [UInt8]) throws(ToolError) -> [UInt8] {
            throw .needsOpenSSL("reading this key")
        }
        func isRSAPublicKey(_ der: [UInt8]) -> Bool { false }
        func isSigned(_ request: [UInt8], by key: PublicKeyDescription) -> Bool? { nil }
        func signingSeed(of key: [UInt8], passphrase: [UInt8]?, in file: String) throws(ToolError) -> [UInt8] {
            throw .needsOpenSSL("reading this key")
        }
    }

    private let directory: TemporaryDirectory
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ arguments: [String]) -> ToolRun {
        ToolRun(arguments: arguments, now: now, commands: Command.withoutServers, libraries: NoLibraries())
    }

    @Test("A command about files prints the same as the whole tool")
    func files() throws {
        let authority = try CertificateAuthority.root(name: "Root")
        let identity = try authority.issue(hosts: ["api.example.test"])
        let chain = try directory.write(identity.certificate.pem + authority.certificate.pem, to: "chain.pem")
        let key = try directory.write(PrivateKey().publicPEM, to: "backup.pub")
        let policy = try directory.write(PolicyText.policy(PolicyText.rule("api.example.test")), to: "policy.json")
        for arguments in [
            ["pin", chain], ["pin", chain, key, "--as", "policy"], ["pin", chain, key, "--as", "okhttp"],
            ["inspect", chain, "--json"], ["inspect", policy], ["lint", policy], ["lint", policy, "--json"],
            ["export", "--to", "nsc", policy], ["plan", "\(PlanFixture.examples)/old-app.json", "--at", "2026-11-20"],
            ["trust", "list", "--store", directory.path(of: "store")], ["help", "pin"],
        ] {
            let (part, whole) = (run(arguments), ToolRun(arguments: arguments, now: now))
            #expect(part.code == whole.code, "\(arguments)")
            #expect(part.output == whole.output, "\(arguments)")
            #expect(part.errors == whole.errors, "\(arguments)")
        }
    }

    @Test("A key pair can be made, and its public half trusted")
    func keys() throws {
        #expect(run(["keygen", "--out", directory.path(of: "update.key")]).code == 0)
        let shown = run(["inspect", directory.path(of: "update.key.pub")])
        #expect(shown.code == 0)
        #expect(shown.output.contains("Ed25519"))
    }

    @Test("Without a list, a rule of private roots may cover the names below two labels, but not below one")
    func suffixes() throws {
        let root = try directory.write(PolicyText.anchor(), to: "root.pem")
        func run(_ host: String) throws -> ToolRun {
            let rule = "{\"host\": \"\(host)\", \"includeSubdomains\": true, \"anchors\": {\"include\": [\"\(root)\"]}}"
            return self.run(["inspect", try directory.write(PolicyText.policy(rule), to: "policy.json")])
        }
        let covered = try run("example.com")
        #expect(covered.code == 0)
        // Nothing judged whether the name is a suffix.
        #expect(covered.errors.contains("there is no list of public suffixes here"))
        let refused = try run("com")
        #expect(refused.code == 2)
        #expect(refused.errors.contains("hosts[0]"))
    }

    @Test("Lint says that suffixes were not judged, if the file has a rule for all names below one")
    func unjudgedSuffixes() throws {
        let rule = PolicyText.rule("co.uk", "\"includeSubdomains\": true")
        let covering = try directory.write(PolicyText.policy(rule), to: "covering.json")
        let exact = try directory.write(PolicyText.policy(PolicyText.rule("co.uk")), to: "exact.json")
        let warning = "there is no list of public suffixes here"
        #expect(run(["lint", covering]).errors.contains(warning))
        #expect(!run(["lint", exact]).errors.contains(warning))
        let whole = ToolRun(arguments: ["lint", covering], now: now)
        #expect(whole.output.contains("public-suffix") && !whole.errors.contains(warning))
    }

    @Test("A warning says that the signature of a request was not checked")
    func uncheckedRequest() throws {
        let request = try CertificateSigningRequest(hosts: ["api.example.test"], key: PrivateKey())
        let run = run(["pin", try directory.write(request.pem, to: "request.csr")])
        #expect(run.code == 0)
        #expect(run.errors.contains("cannot check the request's signature"))
    }

    @Test("A private key that cannot be read is not called a damaged certificate")
    func foreignKey() throws {
        let run = run(["pin", try directory.write(PrivateKey().pkcs8DER, to: "private.der")])
        #expect(run.code == 2)
        #expect(run.errors.hasSuffix("reading this key needs a build of pintle with OpenSSL\n"))
    }

    @Test("Everything that needs OpenSSL is refused in one line")
    func refusals() throws {
        let policy = try directory.write(PolicyText.policy(PolicyText.rule("api.example.test")), to: "policy.json")
        let key = try directory.write(PrivateKey().pem, to: "private.key")
        for (arguments, subject) in [
            (["pin", "api.example.test"], "asking a server"),
            (["pin", "api.example.test", "--durable"], "asking a server"),
            (["lint", policy, "--live"], "asking a server"), (["pin", key], "reading this key"),
            (["check", "api.example.test", "--policy", policy], "'pintle check'"), (["demo"], "'pintle demo'"),
            (["help", "audit"], "'pintle audit'"),
        ] {
            let run = run(arguments)
            #expect(run.code == 2, "\(arguments)")
            #expect(run.errors.hasSuffix("\(subject) needs a build of pintle with OpenSSL\n"), "\(arguments)")
            #expect(run.errors.split(separator: "\n").count == 1, "\(arguments)")
        }
    }

    @Test("The overview lists the commands of the build")
    func overview() {
        let output = run(["--help"]).output
        #expect(output.contains("\n  lint "))
        #expect(!output.contains("\n  check "))
    }

    @Test("Each command either needs no server or is named as one that does")
    func names() {
        let all = Set(Command.all.map(\.name))
        #expect(Command.needingServers == all.subtracting(Command.withoutServers.map(\.name)))
        #expect(Command.all.count == all.count)
    }
}
