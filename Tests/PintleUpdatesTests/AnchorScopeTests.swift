import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleUpdates

@Suite("An update adds no anchors")
struct AnchorScopeTests {
    private let ours: String
    private let theirs: String

    init() throws {
        ours = JSONWriter.quoted(try CertificateAuthority.root(name: "Ours").certificate.pem)
        theirs = JSONWriter.quoted(try CertificateAuthority.root(name: "Theirs").certificate.pem)
    }

    private func code(_ update: String, bundled: String) throws -> UpdateError.Code? {
        var app = try ShippedApp()
        app.bundled = Publication.policy(bundled)
        return try app.code(of: Publication(policy: Publication.policy(update)))
    }

    private func rule(_ anchors: String?, host: String = "example.com", more: String = "") -> String {
        Publication.rule(host, (anchors.map { ", \"anchors\": {\($0)}" } ?? "") + more)
    }

    private func include(_ certificates: String..., system: Bool = false) -> String {
        "\"include\": [\(certificates.joined(separator: ", "))], \"system\": \(system)"
    }

    @Test("An update's rule trusts the bundled rule's roots or a subset of them")
    func anchors() throws {
        #expect(try code(rule(include(ours)), bundled: rule(include(ours))) == nil)
        #expect(try code(rule(include(theirs)), bundled: rule(include(ours))) == .outOfScope)
        #expect(try code(rule(include(ours, theirs)), bundled: rule(include(ours))) == .outOfScope)
        #expect(try code(rule(include(ours)), bundled: rule(include(ours, theirs))) == nil)
        #expect(try code(rule(include(theirs)), bundled: rule(nil)) == .outOfScope)
        #expect(try code(rule(include(ours, system: true)), bundled: rule(include(ours))) == .outOfScope)
        // The system's roots count as roots too.
        #expect(try code(rule(nil), bundled: rule(include(ours))) == .outOfScope)
        #expect(try code(rule(nil), bundled: rule(include(ours, system: true))) == nil)
        let withdrawn = rule(include(theirs), more: ", \"withdraws\": \"no reason is good enough\"")
        #expect(try code(withdrawn, bundled: rule(include(ours))) == .outOfScope)
    }

    @Test("A new sub-domain rule may trust only what the bundled rule above it trusts")
    func subdomains() throws {
        let wide = rule(include(ours), more: ", \"includeSubdomains\": true")
        func both(_ anchors: String?) -> String { wide + ", " + rule(anchors, host: "api.example.com") }
        #expect(try code(both(include(ours)), bundled: wide) == nil)
        #expect(try code(both(include(theirs)), bundled: wide) == .outOfScope)
        #expect(try code(both(nil), bundled: wide) == .outOfScope)
    }

    @Test("Where an update may name any host, an added rule trusts only the system's roots")
    func anyHost() throws {
        let bundled = Publication.policy(rule(nil), more: ", \"updates\": {\"anyHost\": true}")
        for (anchors, expected) in [
            (nil, nil), (include(ours), .outOfScope), (include(ours, system: true), .outOfScope),
        ]
            as [(String?, UpdateError.Code?)]
        {
            var app = try ShippedApp()
            app.bundled = bundled
            let update = Publication.policy(rule(nil), rule(anchors, host: "example.net"))
            #expect(try app.code(of: Publication(policy: update)) == expected)
        }
    }

    @Test("The message names the bundled rule if it is for another name")
    func messages() throws {
        func message(_ update: String, bundled: String) throws -> String? {
            var app = try ShippedApp()
            app.bundled = Publication.policy(bundled)
            let bytes = try Publication(policy: Publication.policy(update)).signed(by: app.one)
            let verifier = try app.verifier
            do throws(UpdateError) {
                _ = try verifier.verify(bytes, floor: nil, at: Publication.now)
                return nil
            } catch {
                guard case .outOfScope(let problems) = error.reason else { throw error }
                return problems.first?.message
            }
        }
        let wide = rule(include(ours), more: ", \"includeSubdomains\": true")
        #expect(try message(wide, bundled: wide) == nil)
        #expect(
            try message(rule(include(theirs)), bundled: rule(include(ours)))
                == "example.com would trust roots that the bundled rule does not")
        #expect(
            try message(wide + ", " + rule(nil, host: "api.example.com"), bundled: wide)
                == "api.example.com would trust roots that the bundled rule for example.com does not")
    }

    @Test("A rule for a port does not take over servers with other roots")
    func ports() throws {
        let parent = rule(include(ours), more: ", \"includeSubdomains\": true")
        let pay = rule(nil, host: "pay.example.com")
        let port = rule(include(ours), more: ", \"includeSubdomains\": true, \"port\": 443")
        #expect(try code("\(parent), \(pay), \(port)", bundled: "\(parent), \(pay)") == .outOfScope)
        let own = rule(nil, host: "pay.example.com", more: ", \"port\": 443")
        #expect(try code("\(parent), \(pay), \(port), \(own)", bundled: "\(parent), \(pay)") == nil)
        // The bundled rule for the port decides now, before the nearer rule for all ports.
        #expect(try code("\(port), \(pay), \(own)", bundled: "\(port), \(pay)") == .outOfScope)
        let same = rule(include(ours), host: "pay.example.com", more: ", \"port\": 443")
        #expect(try code("\(port), \(pay), \(same)", bundled: "\(port), \(pay)") == nil)
    }

    @Test("Sub-domains do not fall back to the system's roots")
    func dropped() throws {
        func bare(_ anchors: String, _ more: String = "") -> String {
            "{\"host\": \"example.com\", \"anchors\": {\(anchors)}\(more)}"
        }
        let wide = ", \"includeSubdomains\": true"
        #expect(try code(bare(include(ours)), bundled: bare(include(ours), wide)) == .outOfScope)
        let why = ", \"withdraws\": \"no reason is good enough\""
        #expect(try code(bare(include(ours), why), bundled: bare(include(ours), wide)) == .outOfScope)
        #expect(try code(bare(include(ours), wide), bundled: bare(include(ours), wide)) == nil)
        #expect(try code(bare(include(ours), why), bundled: bare(include(ours, system: true), wide)) == nil)
        // Without a rule they would get plain HTTP.
        #expect(try code(bare(include(ours)), bundled: bare(include(ours, system: true), wide)) == .outOfScope)
    }

    @Test("Names that a rule no longer covers do not fall back to a parent's roots")
    func narrowed() throws {
        func rules(_ roots: String?, more: String, above: String?) -> String {
            rule(above, more: ", \"includeSubdomains\": true") + ", " + rule(roots, host: "api.example.com", more: more)
        }
        let wide = ", \"includeSubdomains\": true"
        let why = ", \"withdraws\": \"no reason is good enough\""
        for (roots, above) in [(nil, include(ours)), (include(ours), nil), (include(ours), include(theirs))] {
            let bundled = rules(roots, more: wide, above: above)
            #expect(try code(rules(roots, more: "", above: above), bundled: bundled) == .outOfScope)
            #expect(try code(rules(roots, more: why, above: above), bundled: bundled) == .outOfScope)
            #expect(try code(rules(roots, more: wide, above: above), bundled: bundled) == nil)
        }
        // With the same roots, the publisher must give a reason.
        let bundled = rules(include(ours), more: wide, above: include(ours))
        #expect(try code(rules(include(ours), more: "", above: include(ours)), bundled: bundled) == .outOfScope)
        #expect(try code(rules(include(ours), more: why, above: include(ours)), bundled: bundled) == nil)
    }

    @Test("Names on a port that a rule no longer covers do not fall back to the roots of the rule for all ports")
    func narrowedPort() throws {
        func rules(_ more: String) -> String {
            rule(include(ours), more: ", \"includeSubdomains\": true") + ", "
                + rule(nil, more: ", \"port\": 443" + more)
        }
        let wide = ", \"includeSubdomains\": true"
        #expect(try code(rules(", \"withdraws\": \"no reason\""), bundled: rules(wide)) == .outOfScope)
        #expect(try code(rules(""), bundled: rules(wide)) == .outOfScope)
        #expect(try code(rules(wide), bundled: rules(wide)) == nil)
    }

    @Test("An update cannot name anchor files")
    func files() throws {
        #expect(try code(rule(include("\"/etc/ssl/certs/ca-certificates.crt\"")), bundled: rule(nil)) == .outOfScope)
        #expect(try code(rule(nil), bundled: rule(nil)) == nil)
    }
}
