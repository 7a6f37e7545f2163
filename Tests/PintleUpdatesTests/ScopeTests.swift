import FoundationEssentials
import Pintle
import Testing

@testable import PintlePolicyFile
@testable import PintleUpdates

/// Changes that a thief of a key, or a careless publisher, could try beyond new pins. Each with an allowed
/// counter-check.
@Suite("An update adds no trust")
struct ScopeTests {
    private static func rule(_ host: String, _ more: String = "", pin: UInt8 = 1) -> String {
        Publication.rule(host, pin: pin, more)
    }

    private static func bare(_ host: String, _ more: String = "") -> String { "{\"host\": \"\(host)\"\(more)}" }

    private func code(_ update: String, bundled: String) throws -> UpdateError.Code? {
        var app = try ShippedApp()
        app.bundled = bundled
        return try app.code(of: Publication(policy: update))
    }

    /// Returns the failure for an update's rules with these bundled rules.
    private func code(_ update: [String], _ bundled: [String], more: String = "") throws -> UpdateError.Code? {
        try code(
            "{\"version\": 1, \"hosts\": [\(update.joined(separator: ", "))]}",
            bundled: "{\"version\": 1\(more), \"hosts\": [\(bundled.joined(separator: ", "))]}")
    }

    @Test("An update's hosts are bundled, or below a bundled host that covers its sub-domains")
    func hosts() throws {
        let exact = Self.rule("example.com")
        let wide = Self.rule("example.com", ", \"includeSubdomains\": true")
        #expect(try code([exact], [exact]) == nil)
        #expect(try code([exact, Self.rule("api.example.com")], [exact]) == .outOfScope)
        #expect(try code([wide, Self.rule("api.example.com")], [wide]) == nil)
        #expect(try code([wide, Self.rule("a.b.example.com", ", \"includeSubdomains\": true")], [wide]) == nil)
        #expect(try code([wide, Self.rule("badexample.com")], [wide]) == .outOfScope)
        #expect(try code([wide, Self.rule("com")], [wide]) == .outOfScope)
        #expect(try code([exact, Self.rule("example.net")], [exact]) == .outOfScope)
        #expect(
            try code([exact, Self.rule("example.net")], [exact], more: ", \"updates\": {\"anyHost\": true}") == nil)
        // The update cannot grant itself more hosts.
        let generous =
            "{\"version\": 1, \"updates\": {\"anyHost\": true}, \"hosts\": [\(exact), \(Self.rule("example.net"))]}"
        #expect(try code(generous, bundled: Publication.policy(exact)) == .outOfScope)
        // Wider than the bundled rule: its sub-domains, or all ports.
        #expect(try code([wide], [exact]) == .outOfScope)
        let port = Self.rule("example.com", ", \"port\": 8443")
        #expect(try code([port, Self.rule("example.com", pin: 2)], [port]) == .outOfScope)
        #expect(try code([exact, port], [exact]) == nil)
        #expect(try code([Self.rule("192.0.2.1")], [Self.rule("192.0.2.1")]) == nil)
        #expect(try code([Self.rule("192.0.2.1"), Self.rule("192.0.2.2")], [Self.rule("192.0.2.1")]) == .outOfScope)
    }

    @Test("An update may tighten path terms and name another issuer, but not drop or loosen them")
    func pathTerms() throws {
        func rule(_ length: Int?, _ issuer: UInt8?, _ more: String = "", host: String = "example.com") -> String {
            let length = length.map { ", \"minimumPathLength\": \($0)" } ?? ""
            let issuer = issuer.map { ", \"issuerKey\": \"\(Pins.pin($0))\"" } ?? ""
            return Self.rule(host, length + issuer + more)
        }
        let old = rule(3, 50)
        for better in [old, rule(4, 50), rule(3, 51)] { #expect(try code([better], [old]) == nil, "\(better)") }
        let why = ", \"withdraws\": \"no reason is good enough\""
        for worse in [rule(2, 50), rule(nil, 50), rule(3, nil), rule(nil, nil), rule(2, 50, why), rule(3, nil, why)] {
            #expect(try code([worse], [old]) == .outOfScope, "\(worse)")
        }
        #expect(try code([old], [rule(nil, nil)]) == nil)
        #expect(try code([rule(nil, nil)], [rule(1, nil)]) == nil)
        // A rule with another name that decides instead, and names that fall to no rule.
        let wide = ", \"includeSubdomains\": true"
        let parent = rule(3, 50, wide)
        let below = { rule($0, $1, host: "api.example.com") }
        #expect(try code([parent, below(3, 51)], [parent]) == nil)
        #expect(try code([parent, below(2, 50)], [parent]) == .outOfScope)
        #expect(try code([parent, below(3, nil)], [parent]) == .outOfScope)
        #expect(try code([parent, rule(2, 50, ", \"port\": 8443")], [parent]) == .outOfScope)
        #expect(try code([rule(3, 50, why)], [parent]) == .outOfScope)
        let bare = { Self.bare("example.com", $0) }
        let length = ", \"minimumPathLength\": 3"
        #expect(try code([bare(length)], [bare(length + wide)]) == .outOfScope)
        #expect(try code([bare(length + wide)], [bare(length + wide)]) == nil)
        #expect(try code([bare(length)], [bare(length + wide)], more: ", \"unpinnedHosts\": \"reject\"") == .outOfScope)
    }

    @Test("A rule covers no name beside its own ones, and a rule for a port covers that port")
    func neighbours() throws {
        let wide = ", \"includeSubdomains\": true"
        let port = ", \"port\": 443"
        let exact = Self.rule("a.example.com", wide)
        #expect(try code([exact, Self.rule("x.a.example.com")], [exact]) == nil)
        #expect(try code([exact, Self.rule("x.b.example.com")], [exact]) == .outOfScope)
        let https = Self.rule("a.example.com", port + wide)
        #expect(try code([https, Self.rule("x.a.example.com", port)], [https]) == nil)
        #expect(try code([https, Self.rule("b.example.com", port)], [https]) == .outOfScope)
        let narrow = Self.rule("a.example.com", port)
        #expect(try code([narrow, Self.rule("x.a.example.com", port)], [narrow]) == .outOfScope)
    }

    @Test("Where an update may name any host, a bundled rule for a port still protects the names below it")
    func portsAbove() throws {
        let wide = ", \"includeSubdomains\": true"
        let port = ", \"port\": 443"
        let anyHost = ", \"updates\": {\"anyHost\": true}"
        let bundled = Self.rule("example.com", port + wide)
        let withdrawn = Self.rule("example.com", port + ", \"withdraws\": \"split up\"")
        for more in [port, ""] {
            #expect(
                try code([withdrawn, Self.bare("api.example.com", more)], [bundled], more: anyHost) == .outOfScope)
            #expect(try code([withdrawn, Self.rule("api.example.com", more)], [bundled], more: anyHost) == nil)
        }
        // Between the two names is a rule that covers only its own host.
        let both = [bundled, Self.rule("api.example.com", port)]
        for host in ["x.api.example.com", "y.example.com"] {
            #expect(try code(both + [Self.bare(host, port)], both, more: anyHost) == .outOfScope)
            #expect(try code(both + [Self.rule(host, port)], both, more: anyHost) == nil)
        }
    }

    @Test("If an update repeats a rule, the scope judges the first")
    func repeated() throws {
        for more in ["", ", \"port\": 443"] {
            let (pinned, bare) = (Self.rule("example.com", more), Self.bare("example.com", more))
            #expect(try code([bare, pinned], [pinned]) == .outOfScope)
            #expect(try code([pinned, bare], [pinned]) == .invalidPolicy)
            #expect(try code([pinned], [pinned]) == nil)
        }
    }

    @Test("A bundled host must not be missing from an update")
    func missingHosts() throws {
        let (one, two) = (Self.rule("example.com"), Self.rule("example.net"))
        #expect(try code([one, two], [one, two]) == nil)
        #expect(try code([one], [one, two]) == .invalidPolicy)
        #expect(try code([], [one]) == .invalidPolicy)
        #expect(try code([], []) == nil)
        let port = Self.rule("example.com", ", \"port\": 8443")
        #expect(try code([one], [one, port]) == .invalidPolicy)
        let wide = Self.rule("example.com", ", \"includeSubdomains\": true")
        #expect(try code([wide], [wide, Self.rule("api.example.com")]) == .invalidPolicy)
        #expect(try code([one], [wide]) == .outOfScope)
        // The parent has no pins, so this is a missing host and not a change of the parent.
        let parent = Self.bare("example.com", ", \"includeSubdomains\": true")
        let child = Self.rule("b.example.com")
        #expect(try code([parent], [parent, child]) == .invalidPolicy)
        #expect(try code([parent, Self.bare("b.example.com")], [parent, child]) == .outOfScope)
        #expect(try code([parent, child], [parent, child]) == nil)
        #expect(try code([Self.rule("example.com", ", \"withdraws\": \"split up\"")], [wide]) == nil)
    }

    @Test("Enforcement can be dropped only with a reason")
    func enforcement() throws {
        let enforced = Self.rule("example.com")
        let reported = Self.rule("example.com", ", \"enforcement\": \"reportOnly\"")
        let why = ", \"withdraws\": \"the key was stolen\""
        #expect(try code([Self.bare("example.com")], [enforced]) == .outOfScope)
        #expect(try code([Self.bare("example.com", why)], [enforced]) == nil)
        #expect(try code([reported], [enforced]) == .outOfScope)
        #expect(try code([Self.rule("example.com", ", \"enforcement\": \"reportOnly\"\(why)")], [enforced]) == nil)
        #expect(try code([reported], [reported]) == nil)
        // A bundled exception below an enforcing parent may stay, but an update cannot add one.
        let parent = Self.rule("example.com", ", \"includeSubdomains\": true")
        let child = Self.rule("api.example.com", ", \"enforcement\": \"reportOnly\"")
        let deep = Self.rule("api.example.com", ", \"enforcement\": \"reportOnly\", \"includeSubdomains\": true")
        #expect(try code([parent, child], [parent, child]) == nil)
        #expect(try code([parent, child], [parent]) == .outOfScope)
        #expect(try code([parent, deep], [parent, child]) == .outOfScope)
        #expect(try code([Self.bare("example.com")], [reported]) == nil)
        #expect(try code([enforced], [reported]) == nil)
        // A more specific rule would take a host away from an enforced rule.
        let wide = Self.rule("example.com", ", \"includeSubdomains\": true")
        #expect(try code([wide, Self.bare("api.example.com")], [wide]) == .outOfScope)
        #expect(try code([wide, Self.bare("api.example.com", why)], [wide]) == nil)
        #expect(try code([enforced, Self.bare("example.com", ", \"port\": 443")], [enforced]) == .outOfScope)
    }

    @Test("A rule for a port does not weaken stricter rules for all ports, at or below its host")
    func portsOverrule() throws {
        let wide = ", \"includeSubdomains\": true"
        let reported = ", \"enforcement\": \"reportOnly\""
        let port = ", \"port\": 443"
        let anyHost = ", \"updates\": {\"anyHost\": true}"
        // For a host that the update adds.
        let api = Self.rule("api.example.com")
        let bare = Self.bare("example.com", port + wide)
        #expect(try code([api, bare], [api], more: anyHost) == .outOfScope)
        #expect(try code([api, bare, Self.rule("api.example.com", port)], [api], more: anyHost) == nil)
        #expect(try code([api, Self.bare("example.com", port)], [api], more: anyHost) == nil)
        #expect(try code([api, Self.rule("example.com", port + wide)], [api], more: anyHost) == nil)
        #expect(try code([api, Self.bare("example.net", port + wide)], [api], more: anyHost) == nil)
        // For a parent that only reports or has no pins.
        let pay = Self.rule("pay.example.com")
        for (parent, update) in [
            (Self.rule("example.com", wide + reported), Self.rule("example.com", wide + reported + port)),
            (Self.bare("example.com", wide), Self.bare("example.com", wide + port)),
        ] {
            #expect(try code([parent, pay, update], [parent, pay]) == .outOfScope)
            #expect(try code([parent, pay, update, Self.rule("pay.example.com", port)], [parent, pay]) == nil)
            // A rule for another port, or without the bundled rule's sub-domains, is no replacement.
            let other = Self.rule("pay.example.com", ", \"port\": 8443")
            #expect(try code([parent, pay, update, other], [parent, pay]) == .outOfScope)
            let deep = Self.rule("pay.example.com", wide)
            let narrow = Self.rule("pay.example.com", port)
            #expect(try code([parent, deep, update, narrow], [parent, deep]) == .outOfScope)
            #expect(
                try code([parent, deep, update, Self.rule("pay.example.com", port + wide)], [parent, deep]) == nil)
            // The bundled policy itself already overrides the rule, so the update changes nothing.
            #expect(try code([parent, pay, update], [parent, pay, update]) == nil)
        }
        let why = Self.bare("example.com", port + wide + ", \"withdraws\": \"the key was stolen\"")
        #expect(try code([api, why], [api], more: anyHost) == nil)
    }

    @Test("A rule that is extended to its sub-domains stays as strict about its host")
    func growing() throws {
        let anyHost = ", \"updates\": {\"anyHost\": true}"
        let wide = ", \"includeSubdomains\": true"
        let exact = Self.rule("example.com")
        #expect(try code([Self.bare("example.com", wide)], [exact], more: anyHost) == .outOfScope)
        #expect(try code([Self.rule("example.com", wide)], [exact], more: anyHost) == nil)
    }

    @Test("A scope problem is reported before an invalid policy")
    func beforeSanity() throws {
        let exact = Self.rule("example.com")
        func lonely(_ host: String) -> String { "{\"host\": \"\(host)\", \"pins\": [\"\(Pins.pin(1))\"]}" }
        #expect(try code([exact, lonely("example.net")], [exact]) == .outOfScope)
        #expect(try code([lonely("example.com")], [exact]) == .invalidPolicy)
        let reporting = Self.rule("example.com", ", \"reportTo\": [\"https://reports.example.net/\"]")
        let plain = Self.rule("example.com", ", \"reportTo\": [\"http://thief.example.org/\"]")
        #expect(try code([plain], [reporting]) == .outOfScope)
        #expect(try code([reporting], [reporting]) == nil)
        // A policy that cannot be parsed has no scope, so it is reported as invalid.
        let unread = Self.rule("example.net", ", \"require\": \"leafAndCA\"")
        #expect(try code([exact, unread], [exact]) == .invalidPolicy)
        #expect(try code([exact, Self.rule("example.net", ", \"port\": \"443\"")], [exact]) == .invalidPolicy)
    }

    @Test("Pins do not end earlier than the bundled ones, nor in another way, without a reason")
    func expiry() throws {
        let why = ", \"withdraws\": \"the key was stolen\""
        func rule(_ date: String?, _ then: String = "systemTrust", _ more: String = "") -> String {
            let expiry = date.map { ", \"expiry\": {\"after\": \"\($0)\", \"then\": \"\(then)\"}" } ?? ""
            return Self.rule("example.com", expiry + more)
        }
        let (early, middle, late) = ("2026-11-19T00:00:00Z", "2027-06-01T00:00:00Z", "2028-01-01T00:00:00Z")
        for date in [early, middle, late] {
            // Pins that never expire, or that expire into a rejection, must not expire into system trust.
            #expect(try code([rule(date)], [rule(nil)]) == .outOfScope)
            #expect(try code([rule(date)], [rule(middle, "reject")]) == .outOfScope)
            #expect(try code([rule(date, "systemTrust", why)], [rule(middle, "reject")]) == nil)
            // A rejection adds no trust, and an update may renew pins.
            #expect(try code([rule(date, "reject")], [rule(nil)]) == nil)
            #expect(try code([rule(date, "reject")], [rule(middle, "reject")]) == nil)
            #expect(try code([rule(date, "reject")], [rule(middle)]) == nil)
            #expect(try code([rule(nil)], [rule(date)]) == nil)
        }
        #expect(try code([rule(middle)], [rule(middle)]) == nil)
        #expect(try code([rule(late)], [rule(middle)]) == nil)
        #expect(try code([rule(early)], [rule(middle)]) == .outOfScope)
        #expect(try code([rule(early, "systemTrust", why)], [rule(middle)]) == nil)
        // For a report-only rule, the date ends the reporting.
        let reported = ", \"enforcement\": \"reportOnly\""
        #expect(try code([rule(late, "reject", reported)], [rule(middle, "reject", reported)]) == .outOfScope)
        #expect(try code([rule(early, "reject", reported)], [rule(middle, "reject", reported)]) == nil)
        #expect(try code([rule(middle, "reject", reported)], [rule(middle, "reject", reported)]) == nil)
        #expect(try code([rule(nil, "", reported)], [rule(middle, "reject", reported)]) == .outOfScope)
    }

    @Test("A bundled date with a fraction of a second may be repeated without it")
    func fractions() throws {
        let date = Date(timeIntervalSince1970: 1_800_000_000.5)
        func policy(_ date: Date) throws -> PinningPolicy {
            try PinningPolicy(hosts: [
                PinnedHost(
                    "example.com", pins: [Pins.pin(1)], backupPins: [Pins.pin(2)], expiry: .systemTrust(after: date))
            ])
        }
        let scope = UpdateScope(bundled: try policy(date))
        #expect(scope.problems(of: EmbeddedPolicy(try policy(date - 0.5))).isEmpty)
        #expect(scope.problems(of: EmbeddedPolicy(try policy(date - 1.5))).map(\.path) == ["hosts[0].expiry"])
    }

    @Test("A rule that requires two pins cannot be changed to require one")
    func requirement() throws {
        func rule(_ requires: String, _ more: String = "") -> String {
            """
            {"host": "example.com", "pins": [{"spki": "\(Pins.pin(1))", "at": "leaf"}, {"spki": "\(Pins.pin(2))", \
            "at": "ca"}], "backupPins": "none-accepted", "requires": "\(requires)"\(more)}
            """
        }
        #expect(try code([rule("anyPin")], [rule("leafAndCA")]) == .outOfScope)
        #expect(try code([rule("anyPin", ", \"withdraws\": \"one lost\"")], [rule("leafAndCA")]) == nil)
        #expect(try code([rule("leafAndCA")], [rule("leafAndCA")]) == nil)
        #expect(try code([rule("leafAndCA")], [rule("anyPin")]) == nil)
        // A rule that only reports refuses no server for a missing pin.
        let reported = """
            , "enforcement": "reportOnly", "expiry": {"after": "2027-06-01T00:00:00Z", "then": "reject"}
            """
        #expect(try code([rule("anyPin", reported)], [rule("leafAndCA", reported)]) == nil)
    }

    @Test("Names that lose a rule which only reports, or has no pins, would get plain HTTP")
    func plainHTTP() throws {
        let wide = ", \"includeSubdomains\": true"
        let reported = ", \"enforcement\": \"reportOnly\""
        for rule in [{ Self.bare("api.example.com", $0) }, { Self.rule("api.example.com", reported + $0) }] {
            #expect(try code([rule("")], [rule(wide)]) == .outOfScope)
            #expect(try code([rule(wide)], [rule(wide)]) == nil)
            #expect(try code([rule(", \"withdraws\": \"split up\"")], [rule(wide)]) == nil)
            // Another rule still refuses plain HTTP.
            let parent = Self.bare("example.com", wide)
            #expect(try code([rule(""), parent], [rule(wide), parent]) == nil)
            let reject = ", \"unpinnedHosts\": \"reject\""
            let policy = { (hosts: String) in "{\"version\": 1\(reject), \"hosts\": [\(hosts)]}" }
            #expect(try code(policy(rule("")), bundled: policy(rule(wide))) == nil)
        }
    }

    @Test("Names that a rule no longer covers do not fall to a weaker rule")
    func narrowing() throws {
        let wide = ", \"includeSubdomains\": true"
        let why = ", \"withdraws\": \"split up\""
        let parent = Self.bare("example.com", wide)
        let api = Self.rule("api.example.com", wide)
        #expect(try code([parent, Self.rule("api.example.com")], [parent, api]) == .outOfScope)
        #expect(try code([parent, Self.rule("api.example.com", why)], [parent, api]) == nil)
        #expect(try code([parent, api], [parent, api]) == nil)
        // The rule has no pins, so nothing is lost.
        let bare = Self.bare("api.example.com", wide)
        #expect(try code([parent, Self.bare("api.example.com")], [parent, bare]) == nil)
        // One host below has no pins in the update.
        let deep = Self.bare("x.api.example.com")
        #expect(try code([parent, Self.rule("api.example.com", why), deep], [parent, api]) == .outOfScope)
        #expect(
            try code([parent, Self.rule("api.example.com", why), Self.rule("x.api.example.com")], [parent, api]) == nil)
        // From a rule for a port to a rule for all ports.
        let port = Self.rule("example.com", ", \"port\": 443" + wide)
        let narrow = Self.rule("example.com", ", \"port\": 443")
        #expect(try code([parent, narrow], [parent, port]) == .outOfScope)
        #expect(try code([parent, port], [parent, port]) == nil)
        // A withdrawal may return names to a rule that already covered them, but not to one that newly covers them.
        let pinned = Self.rule("example.com", wide)
        let withdrawn = Self.rule("example.com", why)
        let open = Self.bare("example.com", ", \"port\": 443")
        let opened = Self.bare("example.com", ", \"port\": 443" + wide)
        #expect(try code([withdrawn, opened], [pinned, open]) == .outOfScope)
        #expect(try code([withdrawn, open], [pinned, open]) == nil)
        #expect(
            try code([withdrawn, Self.bare("example.com", ", \"port\": 443" + wide + why)], [pinned, open]) == nil)
        // Nor may they fall to a rule that the update adds above them.
        let anyHost = ", \"updates\": {\"anyHost\": true}"
        let split = Self.rule("api.example.com", why)
        #expect(try code([split, parent], [api], more: anyHost) == .outOfScope)
        #expect(try code([split, Self.bare("example.com", wide + why)], [api], more: anyHost) == nil)
        #expect(try code([split, Self.rule("example.com", wide)], [api], more: anyHost) == nil)
        // From a rule for a port to one for all ports, with other pins.
        #expect(try code([pinned, narrow], [pinned, port]) == .outOfScope)
        #expect(try code([pinned, Self.rule("example.com", ", \"port\": 443" + why)], [pinned, port]) == nil)
        // The next rule has the same terms about the path.
        let length = ", \"minimumPathLength\": 3"
        let (long, short) = (Self.rule("example.com", wide + length), Self.rule("example.com", wide))
        let deepLong = Self.rule("api.example.com", wide + length)
        let splitLong = Self.rule("api.example.com", why + length)
        #expect(try code([long, splitLong], [long, deepLong]) == nil)
        #expect(try code([short, splitLong], [short, deepLong]) == .outOfScope)
        let openedWithPins = Self.rule("example.com", ", \"port\": 443" + wide)
        #expect(try code([withdrawn, openedWithPins], [pinned, open]) == nil)
        // The user decides only where the bundled policy asks the user.
        func asking(_ rule: String) -> String {
            "{\"version\": 1, \"unpinnedHosts\": \"askUser\", \"hosts\": [\(rule)]}"
        }
        #expect(try code(asking(split), bundled: asking(api)) == .outOfScope)
        // Hosts without a rule are refused, so fewer covered names only means more refusals.
        func refusing(_ rules: String...) -> String {
            "{\"version\": 1, \"unpinnedHosts\": \"reject\", \"hosts\": [\(rules.joined(separator: ", "))]}"
        }
        let bareExact = Self.bare("api.example.com")
        #expect(try code(refusing(Self.rule("api.example.com")), bundled: refusing(api)) == nil)
        #expect(try code(refusing(bareExact), bundled: refusing(api)) == .outOfScope)
        // A name below, or a port, may get a rule of its own instead.
        for (own, more) in [("x.api.example.com", ""), ("api.example.com", ", \"port\": 443")] {
            let narrowed = Self.rule("api.example.com")
            #expect(try code(refusing(narrowed, Self.rule(own, more)), bundled: refusing(api)) == nil)
            #expect(try code(refusing(narrowed, Self.bare(own, more)), bundled: refusing(api)) == .outOfScope)
        }
        #expect(
            try code(refusing(parent, Self.rule("api.example.com")), bundled: refusing(parent, api)) == .outOfScope)
        #expect(try code(asking(api), bundled: asking(api)) == nil)
    }

    @Test("Names that a rule no longer covers need a reason, even if they come under a rule that is as strict")
    func narrowedToEqualRule() throws {
        let wide = ", \"includeSubdomains\": true"
        let parent = Self.rule("example.com", wide)
        func messages(_ api: String) throws -> [String] {
            let scope = UpdateScope(
                bundled: try Publication.read(Publication.policy(parent, Self.rule("api.example.com", wide))))
            return scope.problems(of: EmbeddedPolicy(try Publication.read(Publication.policy(parent, api)))).map(
                \.message)
        }
        #expect(
            try messages(Self.rule("api.example.com")) == [
                "the sub-domains of api.example.com would come under the rule for example.com instead"
            ])
        #expect(try messages(Self.rule("api.example.com", ", \"withdraws\": \"one rule is enough\"")).isEmpty)
    }

    @Test("If unpinned hosts are rejected, an update may add a host only with pins or with a reason")
    func added() throws {
        func policy(_ rules: String..., unpinned: String, more: String = "") -> String {
            "{\"version\": 1, \"unpinnedHosts\": \"\(unpinned)\"\(more), \"hosts\": [\(rules.joined(separator: ", "))]}"
        }
        let rule = Self.rule("example.com")
        for unpinned in ["reject", "askUser", "systemTrust"] {
            let bundled = policy(rule, unpinned: unpinned, more: ", \"updates\": {\"anyHost\": true}")
            let bare = policy(rule, Self.bare("example.net"), unpinned: unpinned)
            #expect(try code(bare, bundled: bundled) == (unpinned == "systemTrust" ? nil : .outOfScope))
            let pinned = policy(rule, Self.rule("example.net"), unpinned: unpinned)
            #expect(try code(pinned, bundled: bundled) == nil)
            let why = policy(rule, Self.bare("example.net", ", \"withdraws\": \"a new host\""), unpinned: unpinned)
            #expect(try code(why, bundled: bundled) == nil)
        }
    }

    @Test("An update cannot change the treatment of unpinned hosts")
    func unpinnedHosts() throws {
        let rule = Self.rule("example.com")
        func policy(_ word: String) -> String {
            "{\"version\": 1, \"unpinnedHosts\": \"\(word)\", \"hosts\": [\(rule)]}"
        }
        for bundled in ["systemTrust", "reject", "askUser"] {
            for update in ["systemTrust", "reject", "askUser"] {
                let expected: UpdateError.Code? = bundled == update ? nil : .outOfScope
                #expect(try code(policy(update), bundled: policy(bundled)) == expected)
            }
        }
    }

    @Test("Reports may go only to hosts of the bundled policy")
    func reports() throws {
        func reporting(to urls: String...) -> String {
            Self.rule("example.com", ", \"reportTo\": [\(urls.map { "\"\($0)\"" }.joined(separator: ", "))]")
        }
        let bundled = reporting(to: "https://reports.example.net/pins")
        #expect(try code([reporting(to: "https://reports.example.net/other")], [bundled]) == nil)
        #expect(try code([Self.rule("example.com")], [bundled]) == nil)
        #expect(try code([reporting(to: "https://thief.example.org/")], [bundled]) == .outOfScope)
        let both = reporting(to: "https://reports.example.net/", "https://thief.example.org/")
        #expect(try code([both], [bundled]) == .outOfScope)
        #expect(try code([bundled], [Self.rule("example.com")]) == .outOfScope)
    }

    /// Returns the problems of an update; none for an accepted one.
    private func problems(_ update: String, bundled: String) throws -> [ScopeViolation] {
        var app = try ShippedApp()
        app.bundled = bundled
        let bytes = try Publication(policy: update).signed(by: app.one)
        let verifier = try app.verifier
        do throws(UpdateError) {
            _ = try verifier.verify(bytes, floor: nil, at: Publication.now)
            return []
        } catch {
            guard case .outOfScope(let problems) = error.reason else { throw error }
            return problems
        }
    }

    @Test("Each kind of problem has its own place, and a change has only one")
    func kinds() throws {
        func places(_ update: [String], _ bundled: [String], more: String = "") throws -> [String] {
            func policy(_ rules: [String]) -> String {
                "{\"version\": 1\(more), \"hosts\": [\(rules.joined(separator: ", "))]}"
            }
            return try problems(policy(update), bundled: policy(bundled)).map(\.path)
        }
        let rule = Self.rule("example.com")
        let bare = Self.bare("example.com")
        let long = Self.rule("example.com", ", \"minimumPathLength\": 3")
        #expect(try places([rule], [long]) == ["hosts[0].minimumPathLength"])
        func reported(_ year: Int) -> String {
            let expiry = ", \"expiry\": {\"after\": \"\(year)-01-01T00:00:00Z\", \"then\": \"reject\"}"
            return Self.rule("example.com", ", \"enforcement\": \"reportOnly\"" + expiry)
        }
        #expect(try places([reported(2029)], [reported(2028)]) == ["hosts[0].expiry"])
        #expect(try places([reported(2028)], [reported(2028)]) == [])
        let two = """
            {"host": "example.com", "pins": [{"spki": "\(Pins.pin(1))", "at": "leaf"}, {"spki": "\(Pins.pin(2))", \
            "at": "ca"}], "backupPins": "none-accepted", "requires": "leafAndCA"}
            """
        #expect(try places([bare], [two]) == ["hosts[0].pins"])
        let reject = ", \"unpinnedHosts\": \"reject\""
        #expect(try places([rule, Self.bare("example.net")], [rule], more: reject) == ["hosts[1].host"])
    }

    @Test("Names that fall to no rule lose their pins if they were enforced, else only the refusal of plain HTTP")
    func narrowedMessages() throws {
        let wide = ", \"includeSubdomains\": true"
        func message(_ rule: (String) -> String) throws -> String? {
            try problems(Publication.policy(rule("")), bundled: Publication.policy(rule(wide))).first?.message
        }
        #expect(try message { Self.rule("example.com", $0) }?.contains("would lose their pins") == true)
        #expect(try message { Self.bare("example.com", $0) }?.contains("plain HTTP is allowed") == true)
    }

    @Test("A list of scope problems has at most 1,000 entries")
    func longest() throws {
        let rule = try PinnedHost("example.com", anchors: .system)
        let scope = UpdateScope(bundled: try PinningPolicy(hosts: [rule]))
        func count(_ added: Int) throws -> Int {
            let hosts = try (0..<added).map { try PinnedHost("h\($0).example.net", anchors: .system) }
            return scope.problems(of: EmbeddedPolicy(try PinningPolicy(hosts: [rule] + hosts))).count
        }
        #expect(try count(0) == 0)
        #expect(try count(999) == 999)
        #expect(try count(1_001) == 1_000)
    }

    @Test("A full list takes no further problem, and the first message of a place stays")
    func full() {
        var list = ScopeViolations(maximum: 2)
        list.add(.pins, of: 0, { "first" }, help: { "" })
        list.add(.pins, of: 0, { "second" }, help: { "" })
        #expect(!list.isFull && list.all.map(\.message) == ["first"])
        list.add(.host, of: 1, { "third" }, help: { "" })
        list.add(.host, of: 0, { "fourth" }, help: { "" })
        #expect(list.isFull && list.all.map(\.message) == ["first", "third"])
    }

    @Test("Problems are in the order of rules and kinds, however they were found")
    func order() {
        let kinds: [ScopeViolations.Kind] = [
            .host, .anchors, .path(.minimumPathLength), .pins, .enforcement, .expiry, .requires, .includeSubdomains,
            .reportTo(0), .reportTo(10),
        ]
        var list = ScopeViolations(maximum: 100)
        for rule in (0..<3).reversed() {
            for (index, kind) in kinds.enumerated().reversed() {
                list.add(kind, of: rule, { "\(rule) \(index)" }, help: { "" })
            }
        }
        let expected = (0..<3).flatMap { rule in kinds.indices.map { "\(rule) \($0)" } }
        #expect(list.all.map(\.message) == expected)
    }

    @Test("All scope problems are reported at once, each with its place")
    func places() throws {
        let app = try ShippedApp()
        let update = Publication.policy(
            Self.bare("example.com"), Self.rule("example.net", ", \"reportTo\": [\"https://x.example.org/\"]"),
            more: ", \"unpinnedHosts\": \"reject\"")
        do {
            _ = try app.verifier.verify(
                try Publication(policy: update).signed(by: app.one), floor: nil, at: Publication.now)
            Issue.record("taken")
        } catch {
            guard case .outOfScope(let problems) = (error as? UpdateError)?.reason else { throw error }
            #expect(
                problems.map(\.path) == ["unpinnedHosts", "hosts[0].pins", "hosts[1].host", "hosts[1].reportTo[0]"])
            #expect((error as? UpdateError)?.version == 7)
        }
    }
}
