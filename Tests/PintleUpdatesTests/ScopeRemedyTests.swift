import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintlePolicyFile
@testable import PintleUpdates

@Suite("The remedy for each violation of an update's scope")
struct ScopeRemedyTests {
    private static let wide = ", \"includeSubdomains\": true"
    private static let why = ", \"withdraws\": \"a reason\""
    private static let anyHost = ", \"updates\": {\"anyHost\": true}"

    private static func rule(_ more: String = "", host: String = "example.com") -> String {
        Publication.rule(host, more)
    }

    private static func bare(_ more: String = "", host: String = "example.com") -> String {
        "{\"host\": \"\(host)\"\(more)}"
    }

    /// Expects that the update is refused with these remedies, and that it is accepted once a person has followed them.
    ///
    /// - Parameters:
    ///   - update: the policy of the update.
    ///   - bundled: the policy of the app.
    ///   - help: the remedies of the violations, in their order.
    ///   - mended: the policy of the update that follows the remedies.
    ///   - release: the policy of a release that follows them; `nil` for the same one.
    private func expect(
        _ update: String, bundled: String, help: [String], mended: String, release: String? = nil,
        _ place: SourceLocation = #_sourceLocation
    ) throws {
        var app = try ShippedApp()
        app.bundled = bundled
        let refused = try Publication(policy: update).signed(by: app.one)
        let verifier = try app.verifier
        let error = #expect(throws: UpdateError.self, sourceLocation: place) {
            _ = try verifier.verify(refused, floor: nil, at: Publication.now)
        }
        guard case .outOfScope(let violations) = error?.reason else {
            Issue.record("\(String(describing: error))", sourceLocation: place)
            return
        }
        #expect(violations.map(\.help) == help, sourceLocation: place)
        app.bundled = release ?? bundled
        #expect(try app.code(of: Publication(policy: mended)) == nil, sourceLocation: place)
    }

    private func expect(
        _ update: [String], bundled: [String], help: String..., mended: [String], more: String = "",
        _ place: SourceLocation = #_sourceLocation
    ) throws {
        func policy(_ rules: [String]) -> String {
            "{\"version\": 1\(more), \"hosts\": [\(rules.joined(separator: ", "))]}"
        }
        try expect(policy(update), bundled: policy(bundled), help: help, mended: policy(mended), place)
    }

    @Test("An added host is taken out, or a release has it or allows any host")
    func addedHost() throws {
        let old = Publication.policy(Self.rule())
        for (added, more) in [
            (Self.rule(host: "example.net"), ""), (Self.bare(host: "example.net"), ""),
            (Self.rule(host: "example.net"), ", \"unpinnedHosts\": \"reject\""),
            (Self.bare(Self.why, host: "example.net"), ", \"unpinnedHosts\": \"reject\""),
        ] {
            let bundled = Publication.policy(Self.rule(), more: more)
            let update = Publication.policy(Self.rule(), added, more: more)
            let help =
                "take out the rule for example.net; only apps whose bundled policy has it, or "
                + "\"updates\": {\"anyHost\": true}, take it"
            try expect(update, bundled: bundled, help: [help], mended: bundled)
            try expect(update, bundled: bundled, help: [help], mended: update, release: update)
            let generous = Publication.policy(Self.rule(), more: more + Self.anyHost)
            try expect(update, bundled: bundled, help: [help], mended: update, release: generous)
        }
        // The permission does not suffice for a host without pins where hosts without a rule are rejected, and not for
        // other roots.
        let reject = ", \"unpinnedHosts\": \"reject\""
        let short = "take out the rule for example.net; only apps whose bundled policy has it take it"
        let strict = Publication.policy(Self.rule(), more: reject)
        try expect(
            Publication.policy(Self.rule(), Self.bare(host: "example.net"), more: reject), bundled: strict,
            help: [short], mended: strict)
        let root = JSONWriter.quoted(try CertificateAuthority.root(name: "Private").certificate.pem)
        let anchored = Publication.policy(
            Self.rule(), Self.rule(", \"anchors\": {\"include\": [\(root)]}", host: "example.net"))
        try expect(anchored, bundled: old, help: [short, short], mended: old)
        try expect(anchored, bundled: old, help: [short, short], mended: anchored, release: anchored)
    }

    @Test("A rule that covers more than the bundled one gets the bundled port and sub-domains")
    func widened() throws {
        let give = "give the rule for example.com what the bundled one for example.com"
        let port = Self.rule(", \"port\": 8443")
        try expect([Self.rule()], bundled: [port], help: "\(give):8443 has: \"port\": 8443", mended: [port])
        try expect(
            [Self.rule(Self.wide)], bundled: [Self.rule()], help: "\(give) has: \"includeSubdomains\": false",
            mended: [Self.rule(", \"includeSubdomains\": false")])
        let both = Self.rule(", \"port\": 8443" + Self.wide)
        try expect(
            [Self.rule()], bundled: [both],
            help: "\(give):8443 has: \"port\": 8443, \"includeSubdomains\": true", mended: [both])
        try expect(
            [both], bundled: [Self.rule()],
            help: "give the rule for example.com:8443 what the bundled one for example.com has: no \"port\", "
                + "\"includeSubdomains\": false",
            mended: [Self.rule()])
        // The rule with the same name counts, also behind another one.
        let other = Self.rule(", \"port\": 443")
        try expect(
            [other, both], bundled: [other, port],
            help: "give the rule for example.com:8443 what the bundled one for example.com:8443 has: "
                + "\"includeSubdomains\": false",
            mended: [other, port])
        // A bundled rule that the update leaves out has another name.
        let unpinned = Self.bare(host: "example.org")
        try expect(
            [Self.rule()], bundled: [unpinned, port], help: "\(give):8443 has: \"port\": 8443",
            mended: [unpinned, port])
        // Beside the bundled rule, the other port is an added rule.
        try expect(
            [port, Self.rule()], bundled: [port],
            help: "take out the rule for example.com; only apps whose bundled policy has it, or "
                + "\"updates\": {\"anyHost\": true}, take it",
            mended: [port])
    }

    @Test("Anchors return to those of the bundled rule")
    func anchors() throws {
        let ours = JSONWriter.quoted(try CertificateAuthority.root(name: "Ours").certificate.pem)
        let theirs = JSONWriter.quoted(try CertificateAuthority.root(name: "Theirs").certificate.pem)
        func rule(_ root: String, _ more: String = "", host: String = "example.com") -> String {
            Self.rule(", \"anchors\": {\"include\": [\(root)]}" + more, host: host)
        }
        let same = "the same \"anchors\" as the bundled one for example.com"
        for worse in [Self.rule(), rule(theirs), rule("\(ours), \(theirs)")] {
            try expect(
                [worse], bundled: [rule(ours)], help: "give the rule for example.com \(same)", mended: [rule(ours)])
        }
        let out = "take \"anchors\" out of the rule for example.com"
        try expect([rule(ours)], bundled: [Self.rule()], help: out, mended: [Self.rule()])
        let parent = rule(ours, Self.wide)
        try expect(
            [parent, Self.rule(host: "api.example.com")], bundled: [parent],
            help: "give the rule for api.example.com \(same)", mended: [parent, rule(ours, host: "api.example.com")])
        try expect(
            [Self.rule(), rule(ours, host: "example.net")], bundled: [Self.rule()],
            help: "take \"anchors\" out of the rule for example.net",
            mended: [Self.rule(), Self.rule(host: "example.net")], more: Self.anyHost)
        // A file would have to lie in the app.
        try expect(
            [rule("\"root.pem\"")], bundled: [rule(ours)],
            help: "give the rule for example.com \(same)",
            "write the certificates into \"anchors\" as PEM text, as pintle sign does", mended: [rule(ours)])
    }

    @Test("A rule that loosens its pins says why")
    func loosened() throws {
        let help = "if that is meant, say why in the rule for example.com: \"withdraws\": \"why\""
        let reported = ", \"enforcement\": \"reportOnly\""
        func ends(_ year: Int, _ then: String) -> String {
            ", \"expiry\": {\"after\": \"\(year)-01-01T00:00:00Z\", \"then\": \"\(then)\"}"
        }
        for (old, new) in [
            (Self.rule(), reported), (Self.rule(), ends(2028, "systemTrust")),
            (Self.rule(ends(2029, "systemTrust")), ends(2028, "systemTrust")),
            (Self.rule(reported + ends(2028, "reject")), reported + ends(2029, "reject")),
        ] {
            try expect([Self.rule(new)], bundled: [old], help: help, mended: [Self.rule(new + Self.why)])
        }
        try expect([Self.bare()], bundled: [Self.rule()], help: help, mended: [Self.bare(Self.why)])
        func pair(_ more: String) -> String {
            """
            {"host": "example.com", "pins": [{"spki": "\(Pins.pin(1))", "at": "leaf"}, \
            {"spki": "\(Pins.pin(2))", "at": "ca"}], "backupPins": [{"spki": "\(Pins.pin(3))", "at": "leaf"}, \
            {"spki": "\(Pins.pin(4))", "at": "ca"}]\(more)}
            """
        }
        try expect(
            [pair("")], bundled: [pair(", \"requires\": \"leafAndCA\"")], help: help, mended: [pair(Self.why)])
        // A host that only the permission allows.
        try expect(
            [Self.rule(), Self.bare(host: "example.net")], bundled: [Self.rule()],
            help: "if that is meant, say why in the rule for example.net: \"withdraws\": \"why\"",
            mended: [Self.rule(), Self.bare(Self.why, host: "example.net")],
            more: Self.anyHost + ", \"unpinnedHosts\": \"reject\"")
    }

    @Test("Terms about the path return to the bundled ones, also beside withdrawn pins")
    func pathTerms() throws {
        let length = ", \"minimumPathLength\": 3"
        let issuer = ", \"issuerKey\": \"\(Pins.pin(50))\""
        let lengthHelp = "write \"minimumPathLength\": 3 into the rule for example.com, whatever it withdraws"
        let issuerHelp = "write \"issuerKey\": \"\(Pins.pin(50))\" into the rule for example.com, whatever it withdraws"
        for why in ["", Self.why] {
            try expect(
                [Self.rule(why)], bundled: [Self.rule(length + issuer)], help: lengthHelp, issuerHelp,
                mended: [Self.rule(length + issuer + why)])
        }
    }

    @Test("A rule covers its sub-domains again, or says why it does not if a reason suffices")
    func narrowed() throws {
        let cover = "write \"includeSubdomains\": true into the rule for api.example.com"
        let (always, orWhy) = ("\(cover), whatever it withdraws", "\(cover), or say why not: \"withdraws\": \"why\"")
        let root = JSONWriter.quoted(try CertificateAuthority.root(name: "Private").certificate.pem)
        let anchors = ", \"anchors\": {\"include\": [\(root)]}"
        let api = { Self.rule($0, host: "api.example.com") }
        let parent = Self.rule(Self.wide)
        func expect(
            _ narrowed: String, _ bundled: [String], _ help: String, mended: String, more: String = "",
            _ place: SourceLocation = #_sourceLocation
        ) throws {
            let others = Array(bundled.dropLast())
            try self.expect(
                others + [narrowed], bundled: bundled, help: help, mended: others + [mended], more: more, place)
        }
        // No rule, then the parent's rule.
        for others in [[], [parent]] {
            for mended in [api(Self.wide), api(Self.why)] {
                try expect(api(""), others + [api(Self.wide)], orWhy, mended: mended)
            }
            // The parent trusts more roots.
            for why in ["", Self.why] {
                try expect(
                    api(anchors + why), others + [api(anchors + Self.wide)], always,
                    mended: api(anchors + Self.wide + why))
                let length = ", \"minimumPathLength\": 3"
                try expect(
                    api(length + why), others + [api(length + Self.wide)], always,
                    mended: api(length + Self.wide + why))
            }
        }
        for why in ["", Self.why] {
            try expect(
                api(why), [api(Self.wide)], always, mended: api(Self.wide + why),
                more: ", \"unpinnedHosts\": \"askUser\"")
        }
        // Without a rule the names would be open to plain HTTP, even if the rule checks nothing.
        let open = Self.bare(Self.wide, host: "api.example.com")
        try expect(Self.bare(host: "api.example.com"), [open], orWhy, mended: open)
        try expect(
            Self.bare(host: "api.example.com"), [open], orWhy, mended: Self.bare(Self.why, host: "api.example.com"))
    }

    @Test("The terms for hosts without a rule and the addresses of reports return to the bundled ones")
    func policyTerms() throws {
        func policy(_ unpinned: String) -> String {
            Publication.policy(Self.rule(), more: ", \"unpinnedHosts\": \"\(unpinned)\"")
        }
        try expect(
            policy("systemTrust"), bundled: policy("reject"),
            help: ["write \"unpinnedHosts\": \"reject\"; only a release can change it"], mended: policy("reject"))
        try expect(
            [Self.rule(", \"reportTo\": [\"https://reports.example.net/\"]")], bundled: [Self.rule()],
            help: "take the address out of \"reportTo\" of the rule for example.com; only a release can add hosts for "
                + "reports",
            mended: [Self.rule()])
    }

    @Test("A bundled rule that the update has only for one port is named with that port")
    func missingPorts() throws {
        func messages(_ update: String, bundled: String) throws -> [String] {
            let scope = UpdateScope(bundled: try Publication.read(Publication.policy(bundled)))
            return scope.missingHosts(in: try Publication.read(Publication.policy(update)).hosts).map(\.message)
        }
        let (all, port) = (Self.rule(), Self.rule(", \"port\": 8443"))
        #expect(
            try messages(port, bundled: all) == [
                "the bundled policy has a rule for example.com and all its ports, the update has one for "
                    + "example.com:8443 instead"
            ])
        #expect(
            try messages(all, bundled: port) == [
                "the bundled policy has a rule for example.com:8443, the update has one for example.com instead"
            ])
        // Two rules stand in its place; each of them may be named.
        #expect(
            try messages(Self.rule(", \"port\": 1") + ", " + Self.rule(", \"port\": 2"), bundled: all).map {
                $0.hasSuffix("the update has one for example.com:1 instead")
            } == [true])
        #expect(
            try messages(Self.rule(host: "example.net"), bundled: all) == [
                "the bundled policy has a rule for example.com, the update none"
            ])
        #expect(try messages(all, bundled: all).isEmpty)
    }
}
