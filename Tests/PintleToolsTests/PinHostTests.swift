import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@Suite("Hosts of pinned files")
struct PinHostTests {
    private let directory: TemporaryDirectory
    private let root: PintleTestKit.CertificateAuthority
    private let issuing: PintleTestKit.CertificateAuthority
    private let identities: [Identity]
    private let paths: [String]
    private let key: String

    init() throws {
        directory = try TemporaryDirectory()
        root = try CertificateAuthority.root(name: "Root")
        issuing = try root.intermediate(name: "Issuing")
        identities = try ["a.test", "b.test"].map { [issuing] in try issuing.issue(hosts: [$0, "www.\($0)"]) }
        paths = try zip(["a.pem", "b.pem"], identities).map { [directory] in
            try directory.write($1.certificate.pem, to: $0)
        }
        key = try directory.write(try PrivateKey().publicPEM, to: "backup.pub")
    }

    private func pin(_ identity: Identity) throws -> String {
        try PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER).description
    }

    /// Returns `HOST: pins; backups` of each rule of the policy that the command prints.
    private func rules(_ run: ToolRun) throws -> [String] {
        try #require(run.code < 2, "\(run.errors)")
        return try run.json()["hosts"]?.elements?.map { rule in
            let lists = ["pins", "backupPins"].map {
                rule[$0]?.elements?.compactMap(\.string).joined(separator: " ") ?? ""
            }
            return "\(rule["host"]?.string ?? "?"): \(lists[0]); \(lists[1])"
        } ?? []
    }

    private func policy(_ arguments: String...) -> ToolRun {
        ToolRun(arguments: ["pin"] + arguments + ["--as", "policy"])
    }

    @Test("Each host gets only the key of its own certificate, from several files and from one")
    func severalHosts() throws {
        let wanted = ["a.test: \(try pin(identities[0])); ", "b.test: \(try pin(identities[1])); "]
        #expect(try rules(policy(paths[0], paths[1])) == wanted)
        let chains = identities.map(\.chainPEM).joined()
        #expect(try rules(policy(directory.write(chains, to: "both.pem"))) == wanted)
        // A file whose root comes first.
        let reversed = root.certificate.pem + issuing.certificate.pem + identities[0].certificate.pem
        #expect(try rules(policy(directory.write(reversed, to: "reversed.pem"))) == [wanted[0]])
    }

    @Test("A snippet for TrustKit without a host that it can hold is an error with the remedy")
    func unregistered() throws {
        let refused = ToolRun("pin", paths[0], "--as", "trustkit")
        #expect(refused.code == 2 && refused.output.isEmpty)
        #expect(refused.errors.contains("cannot hold a.test") && refused.errors.contains("--as swift"))
        let identity = try issuing.issue(hosts: ["a.example.com"])
        let file = try directory.write(identity.certificate.pem, to: "registered.pem")
        let run = ToolRun("pin", file, "--as", "trustkit")
        #expect(run.code == 0 && run.output.contains("\"a.example.com\": ["), "\(run.errors)")
        // Beside a host that it can hold, the other is left out, and the advice says so.
        let both = ToolRun("pin", file, paths[0], "--as", "trustkit")
        #expect(both.code == 0 && !both.output.contains("a.test") && both.errors.contains("weaker: TrustKit ends"))
    }

    @Test("No form gives a host the key of another", arguments: ["swift", "ats", "nsc", "okhttp", "curl"])
    func forms(_ form: String) throws {
        let run = ToolRun("pin", paths[0], paths[1], "--as", form)
        try #require(run.code == 0, "\(run.errors)")
        let places = try [
            "a.test", String(pin(identities[0]).dropFirst(7)), "b.test", String(pin(identities[1]).dropFirst(7)),
        ]
        .map { run.output.firstRange(of: $0)?.lowerBound }
        #expect(places.allSatisfy { $0 != nil }, "\(run.output)")
        // curl writes the pin before the host.
        let found = places.compactMap(\.self)
        #expect(found.prefix(2).max().map { last in found.dropFirst(2).allSatisfy { last < $0 } } == true)
    }

    @Test("Two certificates of the same host make one rule with both keys")
    func sameHost() throws {
        let next = try issuing.issue(hosts: ["a.test"])
        let file = try directory.write(next.certificate.pem, to: "next.pem")
        #expect(try rules(policy(paths[0], file)) == ["a.test: \(try pin(identities[0])) \(try pin(next)); "])
    }

    @Test("A key without a name needs the only rule, or --host")
    func nameless() throws {
        #expect(try rules(policy(paths[0], key)).first?.hasSuffix("; ") == false)
        let refused = policy(paths[0], paths[1], key)
        #expect(refused.code == 2 && refused.output.isEmpty)
        #expect(refused.errors.contains("there are rules for a.test, b.test") && refused.errors.contains("--host HOST"))
        let named = try rules(policy(paths[0], paths[1], key, "--host", "b.test"))
        #expect(named.map { $0.hasSuffix("; ") } == [true, false])
    }

    @Test("A request becomes the backup of the host that it names")
    func request() throws {
        func write(_ host: String) throws -> String {
            let request = try CertificateSigningRequest(hosts: [host], key: try PrivateKey())
            return try directory.write(request.pem, to: "\(host).csr")
        }
        let rules = try rules(policy(paths[0], paths[1], try write("b.test")))
        #expect(rules.map { $0.hasSuffix("; ") } == [true, false])
        let refused = policy(paths[0], try write("c.test"))
        #expect(refused.code == 2 && refused.errors.contains("c.test.csr names c.test"), "\(refused.errors)")
    }

    @Test("--host must be a name of a certificate, if the certificates have names")
    func otherHost() throws {
        let refused = policy(paths[0], "--host", "bank.test")
        #expect(refused.code == 2 && refused.errors.contains("--host bank.test:"), "\(refused.errors)")
        #expect(try rules(policy(paths[0], "--host", "www.a.test")).first?.hasPrefix("www.a.test:") == true)
    }

    @Test("The key of an authority's certificate gets into a rule only with --host")
    func authority() throws {
        let file = try directory.write(root.certificate.pem, to: "root.pem")
        let refused = policy(paths[0], file)
        #expect(refused.code == 2 && refused.errors.contains("only certificates of authorities"), "\(refused.errors)")
        #expect(policy(file).errors.contains("no certificate names a host"))
        #expect(try rules(policy(file, "--host", "a.test")).first?.hasPrefix("a.test: sha256/") == true)
    }

    @Test("A file with the chains of two servers lists two leaves")
    func positions() throws {
        let chains = identities.map { $0.chainPEM + root.certificate.pem }.joined()
        let run = ToolRun("pin", try directory.write(chains, to: "chains.pem"), "--json")
        let listing = try #require(try run.json().elements?.first { _ in true })
        let positions = listing["certificates"]?.elements?.compactMap { $0["position"]?.string }
        #expect(positions == ["leaf", "1", "root", "leaf", "1", "root"])
    }

    @Test("--host gives no host the certificate whose common name is another host")
    func commonName() throws {
        let named = try issuing.issue(hosts: []) { $0.subject = .commonName("b.test") }
        let file = try directory.write(named.certificate.pem, to: "named.pem")
        let both = try rules(policy(paths[0], file, key, "--host", "a.test"))
        #expect(both.count == 2)
        #expect(try both.first?.hasPrefix("a.test: \(pin(identities[0])); sha256/") == true)
        #expect(both.last == "b.test: \(try pin(named)); ")
        #expect(try rules(policy(file, "--host", "c.test")) == ["c.test: \(try pin(named)); "])
    }

    @Test("A certificate that breaks the standard gets into a rule only with --host")
    func unfit() throws {
        let unfit = try issuing.issue(hosts: ["b.test"]) {
            $0.extraExtensions = [CertificateExtension(.nameConstraints, critical: true) { $0.null() }]
        }
        let file = try directory.write(unfit.certificate.pem, to: "unfit.pem")
        for files in [[paths[0], file], [file, paths[0]]] {
            let refused = ToolRun(arguments: ["pin"] + files + ["--as", "policy"])
            #expect(refused.code == 2 && refused.errors.contains("its names are not known"), "\(refused.errors)")
        }
        let joined = try directory.write(
            identities[0].certificate.pem + unfit.certificate.pem, to: "joined.pem")
        #expect(policy(joined).errors.contains("its names are not known"))
        #expect(try rules(policy(file, "--host", "b.test")) == ["b.test: \(try pin(unfit)); "])
    }

    @Test("A certificate that names another as its issuer does not hide that server's key")
    func hidden() throws {
        let victim = try issuing.issue(hosts: ["b.test"]) { $0.subject = .commonName("b.test") }
        let added = try issuing.issue(hosts: ["q.test"]) { $0.issuer = .commonName("b.test") }
        let file = try directory.write(victim.certificate.pem + added.certificate.pem, to: "hidden.pem")
        #expect(try rules(policy(file)).contains("b.test: \(try pin(victim)); "))
    }

    @Test("A file of keys that is given as a list of hosts is not printed", arguments: ["pem", "base64"])
    func secret(_ form: String) throws {
        let pem = try PrivateKey().pem
        let body = pem.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
        let file = try directory.write(form == "pem" ? pem : body, to: "secret.key")
        for arguments in [["audit", "--hosts", file, "--json"], ["lint", file]] {
            let run = ToolRun(arguments: arguments)
            #expect(run.code == 2)
            #expect(!(run.output + run.errors).contains(body.prefix(20)))
            #expect((run.output + run.errors).contains("key"))
        }
        let list = try directory.write("a.test\n\(body.prefix(64))\n", to: "hosts.txt")
        let mixed = ToolRun("audit", "--hosts", list, "--json")
        #expect(mixed.code == 2 && !(mixed.output + mixed.errors).contains(body.prefix(20)))
    }

    @Test("renew takes a request for a name below the rule's host only if the rule covers it")
    func renewedBelow() throws {
        let text = PolicyText.policy(PolicyText.rule("a.test", #""includeSubdomains": true"#))
        let file = try directory.write(text, to: "policy.json")
        let hosts = [("www.b.test", true), ("nota.test", true), ("www.a.test", false), ("*.a.test", false)]
        for (host, isRefused) in hosts {
            let request = try CertificateSigningRequest(hosts: [host], key: try PrivateKey())
            let path = try directory.write(request.pem, to: "next.csr")
            let run = ToolRun("renew", file, "--key", path, "--connect-to", "127.0.0.1:1")
            #expect(run.errors.contains("the request names \(host), not") == isRefused, "\(run.errors)")
        }
    }

    @Test("renew refuses a request that names another host than the rule")
    func renewedRequest() throws {
        let text = PolicyText.policy(PolicyText.rule("a.test"))
        let file = try directory.write(text, to: "policy.json")
        for (host, isRefused) in [("b.test", true), ("a.test", false)] {
            let request = try CertificateSigningRequest(hosts: [host], key: try PrivateKey())
            let path = try directory.write(request.pem, to: "next.csr")
            let run = ToolRun("renew", file, "--key", path, "--connect-to", "127.0.0.1:1")
            #expect(run.errors.contains("the request names b.test, not a.test") == isRefused, "\(run.errors)")
        }
    }
}
