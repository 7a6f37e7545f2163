import FoundationEssentials
import Pintle
import PintleTestKit
import Testing

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools
@testable import PintleText
@testable import PintleTools

/// Servers with renewal patterns in the place of listed certificates.
@Suite("Renewal patterns of plans")
struct PlanRenewalTests {
    private static let other = "sha256/eCfVOfFhv1iYG+uO+mKiq1/9qTQrL99KtSlc46wCWI0="

    /// A plan whose server shows the key `current` until the renewals begin.
    private struct Scene {
        var renews = Self.renews()
        /// The members of the policy's rule.
        var rule = #""pins": ["\#(PlanFixture.root)"], "backupPins": ["\#(other)"]"#
        var compromised = ""
        var until = "2027-12-01"
        var more = ""

        static func renews(
            keys: String = #""keys": "new""#, authorities: String = #"["root", "root B"]"#, more: String = ""
        ) -> String {
            #"{"from": "2027-01-10", "every": 30, "lifetime": 47, \#(keys), "authorities": \#(authorities)\#(more)}"#
        }

        var text: String {
            """
            {"version": 1, "until": "\(until)", "keys": [
              {"name": "current", "pin": "\(PlanFixture.current)"\(compromised)},
              {"name": "next", "pin": "\(PlanFixture.next)"},
              {"name": "root", "pin": "\(PlanFixture.root)"}, {"name": "root B", "pin": "\(other)"}],
             "certificates": [
              {"name": "listed", "keys": ["current", "root"], "notBefore": "2026-11-01", "notAfter": "2027-02-01"}],
             "servers": [{"host": "api.example.com",
              "serves": [{"from": "2026-11-01", "certificate": "listed"}],
              "renews": \(renews)}\(more)],
             "apps": [{"version": "1.0", "released": "2026-01-01", "fetchesUpdates": false,
              "policy": {"version": 1, "hosts": [{"host": "api.example.com", \(rule)}]}}]}
            """
        }

        func outcome() throws -> PlanOutcome {
            try PlanOutcome(ToolRun("plan", "-", "--json", "--at", "2026-11-20", input: Array(text.utf8)))
        }

        /// The text report with single blanks.
        var words: String {
            let run = ToolRun("plan", "-", "--at", "2026-11-20", input: Array(text.utf8))
            return run.output.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        }
    }

    // MARK: Decisions

    @Test("A policy that pins one of two authorities locks users out only under the other one")
    func anyAuthority() throws {
        var scene = Scene()
        #expect(try scene.outcome().lockOuts == [])
        #expect(try scene.outcome().code == 0)

        scene.rule = #""pins": ["\#(PlanFixture.root)"], "backupPins": ["\#(PlanFixture.spare)"]"#
        let outcome = try scene.outcome()
        #expect(outcome.code == 1)
        #expect(outcome.lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
        let lockOut = try #require(outcome.elements("lockouts").first)
        #expect(outcome.text(lockOut, "authority") == "root B")
        #expect(outcome.text(lockOut, "missingKey") == "root B")
        #expect(outcome.text(lockOut, "missingPin") == Self.other)
        #expect(outcome.advice.first == "add-pin")
        #expect(
            scene.words.contains(
                "from 2027-01-10, version 1.0 cannot connect to api.example.com if its certificate "
                    + "comes from \"root B\" pin-mismatch: the server shows \"renewal from root B\", and no key on its "
                    + "path is pinned: a new key, \"root B\""))

        // The twin has only the authority that is pinned.
        scene.renews = Scene.renews(authorities: #"["root"]"#)
        #expect(try scene.outcome().code == 0)
    }

    @Test("With one authority the text has no condition")
    func oneAuthority() throws {
        var scene = Scene()
        scene.renews = Scene.renews(authorities: #"["root B"]"#)
        scene.rule = #""pins": ["\#(PlanFixture.root)"], "backupPins": ["\#(PlanFixture.spare)"]"#
        let outcome = try scene.outcome()
        let lockOut = try #require(outcome.elements("lockouts").first)
        #expect(outcome.text(lockOut, "authority") == nil)
        #expect(outcome.text(lockOut, "certificate") == "renewal from root B")
        #expect(scene.words.contains("version 1.0 cannot connect to api.example.com pin-mismatch: "))
    }

    @Test("A pin of the leaf ends with the first new key, and lasts if every renewal has the same key")
    func leafPin() throws {
        var scene = Scene()
        scene.rule = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.spare)"]"#
        scene.renews = Scene.renews(authorities: #"["root"]"#)
        let outcome = try scene.outcome()
        #expect(outcome.lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
        #expect(outcome.advice == ["add-pin", "use-known-key", "no-later-switch", "no-update"])
        let advice = try #require(outcome.elements("advice").dropFirst().first)
        #expect(
            outcome.text(advice, "message")
                == "or renew for the key \"current\" every time, which version 1.0 pins already")
        // A new key cannot be pinned, so the advice names the authority's.
        let first = try #require(outcome.elements("advice").first)
        #expect(outcome.text(first, "pin") == PlanFixture.root)

        scene.renews = Scene.renews(keys: #""keys": "same", "key": "current""#)
        #expect(try scene.outcome().code == 0)
        scene.renews = Scene.renews(keys: #""keys": "same", "key": "next""#, authorities: #"["root"]"#)
        let switched = try scene.outcome()
        #expect(switched.lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
        #expect(switched.elements("lockouts").first.flatMap { switched.text($0, "missingKey") } == "next")
    }

    @Test("A rule that requires a pin of the leaf needs one key for all renewals")
    func requiredLeaf() throws {
        var scene = Scene()
        scene.rule = """
            "pins": [{"spki": "\(PlanFixture.current)", "at": "leaf"}, {"spki": "\(PlanFixture.root)", "at": "ca"}],
            "backupPins": [{"spki": "\(PlanFixture.spare)", "at": "leaf"}], "requires": "leafAndCA"
            """
        scene.renews = Scene.renews(authorities: #"["root"]"#)
        let outcome = try scene.outcome()
        #expect(outcome.lockOuts == ["1.0 from 2027-01-10T00:00:00Z pin-mismatch"])
        #expect(outcome.advice == ["reuse-key", "no-later-switch"])
        #expect(
            outcome.elements("advice").first.flatMap { outcome.text($0, "message") }
                == "keep one key at all renewals of api.example.com, and pin it: version 1.0 requires a pin of the leaf, "
                + "and no policy can name a key before it is made")
        scene.renews = Scene.renews(keys: #""keys": "same", "key": "current""#, authorities: #"["root"]"#)
        #expect(try scene.outcome().code == 0)
    }

    @Test(
        "A pattern decides as the list of its certificates does",
        arguments: [["root"], ["root B"], ["root", "root B"]])
    func equivalence(authorities: [String]) throws {
        let rules = [
            #""pins": ["\#(PlanFixture.root)"], "backupPins": ["\#(PlanFixture.spare)"]"#,
            #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(Self.other)"]"#,
            #""pins": ["\#(PlanFixture.root)"], "backupPins": ["\#(Self.other)"]"#,
            #""pins": ["\#(PlanFixture.spare)"], "backupPins": ["\#(PlanFixture.foreign)"]"#,
        ]
        for rule in rules {
            var scene = Scene()
            scene.rule = rule
            scene.renews = Scene.renews(
                authorities: "[" + authorities.map { "\"\($0)\"" }.joined(separator: ", ") + "]")
            let pattern = try scene.outcome()
            var listed: Set<String> = []
            for authority in authorities { listed.formUnion(try listing(scene, authority)) }
            #expect(Set(pattern.lockOuts) == listed, "\(rule)")
        }
    }

    /// Returns the lock-outs if the renewals under one authority are listed one by one. Neighbours are joined, because
    /// each certificate has a lock-out of its own.
    private func listing(_ scene: Scene, _ authority: String) throws -> [String] {
        let start = try RFC3339.date(from: "2027-01-10T00:00:00Z")
        let days = (0..<11).map { start.addingDays($0 * 30) }
        let pins = days.indices.map { "sha256/" + Data(repeating: UInt8(100 + $0), count: 32).base64EncodedString() }
        let keys = pins.enumerated().map { #"{"name": "key \#($0)", "pin": "\#($1)"}"# }
        let certificates = days.enumerated().map { index, day in
            #"{"name": "c\#(index)", "keys": ["key \#(index)", "\#(authority)"], "notBefore": "\#(ValidityText.day(day))", "#
                + #""notAfter": "\#(ValidityText.day(day.addingDays(47)))"}"#
        }
        let switches = days.enumerated().map { #"{"from": "\#(ValidityText.day($1))", "certificate": "c\#($0)"}"# }
        let text = scene.text
            .replacing("\"renews\": \(scene.renews)", with: #""port": 443"#)
            .replacing(
                #""keys": [\#n  {"name": "current""#,
                with: #""keys": [\#(keys.joined(separator: ",")), {"name": "current""#
            )
            .replacing(#""certificates": ["#, with: #""certificates": [\#(certificates.joined(separator: ",")), "#)
            .replacing(
                #""certificate": "listed"}]"#, with: #""certificate": "listed"}, \#(switches.joined(separator: ","))]"#)
        let outcome = try PlanOutcome(ToolRun("plan", "-", "--json", "--at", "2026-11-20", input: Array(text.utf8)))
        #expect(outcome.code < 2, "\(outcome.document)")
        var spans: [(from: String, until: String?)] = []
        for item in outcome.elements("lockouts") {
            let (from, until) = (outcome.text(item, "from") ?? "", outcome.text(item, "until"))
            // The renewals are joined with one another, not with the certificate before them.
            if spans.last?.until == from, outcome.text(item, "certificate") != "c0" {
                spans[spans.count - 1].until = until
            } else {
                spans.append((from, until))
            }
        }
        return spans.map { "1.0 from \($0.from)\($0.until.map { " until \($0)" } ?? "") pin-mismatch" }
    }

    @Test("A stolen key that renewals keep is one exposure, whatever the authority")
    func exposure() throws {
        var scene = Scene()
        scene.rule = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.spare)"]"#
        scene.renews = Scene.renews(keys: #""keys": "same", "key": "current""#)
        scene.compromised = #", "compromised": "2027-03-01""#
        let outcome = try scene.outcome()
        #expect(outcome.code == 0)
        let spans = outcome.elements("exposures").map { outcome.text($0, "from") }
        #expect(spans == ["2027-03-01T00:00:00Z"])
        #expect(outcome.advice == ["withdraw-pin"])
    }

    @Test("Ten years of 47-day lives are simulated")
    func tenYears() throws {
        var scene = Scene()
        scene.until = "2036-11-01"
        #expect(try scene.outcome().code == 0)
        #expect(scene.words.contains("ok stdin 2026-11-20 to 2036-11-01 No simulated version is locked out."))
    }

    // MARK: The picture

    /// Returns the page of a plan.
    private func page(_ scene: Scene) throws -> String {
        let directory = try TemporaryDirectory()
        let plan = try directory.write(scene.text, to: "plan.json")
        _ = ToolRun("plan", plan, "--at", "2026-11-20", "--html", directory.path(of: "plan.html"))
        return String(decoding: try directory.read("plan.html"), as: UTF8.self)
    }

    @Test(
        "A pattern is one box with a mark for each renewal, and cases in which the same versions connect are one drawing"
    )
    func picture() throws {
        var scene = Scene()
        var page = try page(scene)
        #expect(page.matches(of: /class="served"/).count == 2)
        #expect(page.matches(of: #/<svg /#).count == 1)
        #expect(
            page.contains(
                "<title>renewal from root or root B: from 2027-01-10, every 30 days, valid for 47 days; new key</title>"
            ))
        // The renewals after the first one, on 9 February and so on until 6 November.
        #expect(page.matches(of: /y1="45" x2="[0-9.]+" y2="49" class="mark"/).count == 10)
        #expect(page.contains("<h2>api.example.com</h2>"))

        // Two authorities with different outcomes are two drawings.
        scene.rule = #""pins": ["\#(PlanFixture.root)"], "backupPins": ["\#(PlanFixture.spare)"]"#
        page = try self.page(scene)
        #expect(page.matches(of: #/<svg /#).count == 2)
        #expect(page.contains("<h2>api.example.com, root</h2>"))
        #expect(page.contains("<h2>api.example.com, root B</h2>"))
        #expect(scene.words.contains("api.example.com, root B >renewal renewal renewal"))

        // Marks that would touch one another are left out.
        scene = Scene()
        scene.until = "2036-11-01"
        #expect(try self.page(scene).matches(of: /y1="45" x2="[0-9.]+" y2="49" class="mark"/).count < 160)
    }

    // MARK: Reading

    struct Change: Sendable, CustomTestStringConvertible {
        let renews: String
        /// The errors as `code: message (hint)`; empty if the plan can be read.
        let problems: [String]
        var testDescription: String { renews }

        init(_ renews: String, _ problems: String...) {
            (self.renews, self.problems) = (renews, problems)
        }
    }

    private static let place = "servers[0].renews"

    @Test(
        "Each problem of a pattern has its id, a place and a remedy",
        arguments: [
            Change(Scene.renews()),
            Change(Scene.renews(more: #", "trust": "system""#)),
            Change(Scene.renews(authorities: #"[["next", "root"], "root B"]"#)),
            Change(Scene.renews().replacing(#""lifetime": 47"#, with: #""lifetime": 30"#)),
            Change(
                Scene.renews().replacing(#""lifetime": 47"#, with: #""lifetime": 29"#),
                "renewal-too-late: \(place): each certificate ends before the next is served "
                    + "(renew after two thirds of the lifetime: \"every\": 19)"),
            Change(
                Scene.renews().replacing("2027-01-10", with: "2026-11-01"),
                "dates-out-of-order: \(place).from is not later than the last switch of \"serves\" "
                    + "(let the renewals begin after the listed certificates)"),
            Change(
                Scene.renews().replacing(#""every": 30"#, with: #""every": 0"#),
                "invalid-day: \(place).every is out of range (write a whole number from 1 to 3653)"),
            Change(
                Scene.renews().replacing(#""lifetime": 47"#, with: #""lifetime": 3654"#),
                "invalid-day: \(place).lifetime is out of range (write a whole number from 1 to 3653)"),
            Change(
                Scene.renews(keys: #""keys": "old""#),
                "unknown-value: \"old\" is not a value of \(place).keys (values: new, same)"),
            Change(
                Scene.renews(keys: #""keys": "same""#),
                "missing-key: \(place) has no \"key\" (add \"key\": \"the name of the key\")"),
            Change(
                Scene.renews(keys: #""keys": "new", "key": "current""#),
                "unused-key: \(place).key says nothing about renewals with new keys "
                    + "(leave it out, or write \"keys\": \"same\")"),
            Change(
                Scene.renews(keys: #""keys": "same", "key": "root""#),
                "duplicate-name: \(place).authorities[0] has the key of the server itself "
                    + "(name the keys above it, the root last)"),
            Change(
                Scene.renews(authorities: "[]"), "empty-list: \(place).authorities is empty (name at least one)"),
            Change(
                Scene.renews(authorities: #"["root", "root"]"#),
                "duplicate-name: \(place).authorities[1] is there already (name each authority once)"),
            Change(
                Scene.renews(authorities: #"["root C"]"#),
                "unknown-name: \(place).authorities[0]: no key is called \"root C\" "
                    + "(did you mean \"root B\"? there are: current, next, root, root B)"),
            Change(
                Scene.renews(authorities: #""root""#),
                "wrong-type: \(place).authorities is a string (write a list: [...])"),
            Change("[]", "wrong-type: \(place) is a list (write an object: {...})"),
            Change(
                Scene.renews(more: #", "until": "2028-01-01""#),
                "unknown-key: unknown key \"until\" in \(place) "
                    + "(known keys: client, from, every, lifetime, keys, key, authorities, trust)"),
            Change(#""certbot""#),
            Change(#"{"client": "certbot"}"#),
            Change(
                #""certbod""#,
                "unknown-value: \"certbod\" is not a value of \(place) "
                    + "(did you mean \"certbot\"? values: certbot, cert-manager, acme.sh, lego, caddy, traefik, step)"),
            Change(
                #"{"client": "cert-manger"}"#,
                "unknown-value: \"cert-manger\" is not a value of \(place).client "
                    + "(did you mean \"cert-manager\"? values: certbot, cert-manager, acme.sh, lego, caddy, traefik, step)"
            ),
            Change(
                #"{"client": "certbot", "key": "current"}"#,
                "unused-key: \(place).key says nothing about renewals with new keys "
                    + "(leave it out, or write \"keys\": \"same\")"),
        ])
    func problem(change: Change) throws {
        var scene = Scene()
        scene.renews = change.renews
        let run = ToolRun("plan", "-", "--json", "--at", "2026-11-20", input: Array(scene.text.utf8))
        #expect(run.code == 2 || change.problems.isEmpty)
        guard run.code == 2 else { return }
        let document = try run.json()
        let errors = document["errors"]?.elements.map(Array.init) ?? [document["error"]].compactMap(\.self)
        let found = errors.map { error in
            #expect(error["line"]?.integer == 9)
            return "\(error["code"]?.string ?? ""): \(error["message"]?.string ?? "") (\(error["hint"]?.string ?? ""))"
        }
        #expect(found == change.problems)
    }

    // MARK: Clients

    /// A listed certificate of 92 days, from 2026-11-01, whose key the policy pins. Its renewal is due on 2027-01-01.
    private func scene(_ renews: String, isPinned: Bool = true) -> Scene {
        var scene = Scene()
        scene.renews = renews
        if isPinned { scene.rule = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.spare)"]"# }
        return scene
    }

    @Test("A pin of the leaf ends when certbot renews, and lasts with --reuse-key")
    func client() throws {
        let renewed = scene(#""certbot""#)
        let outcome = try renewed.outcome()
        #expect(outcome.code == 1)
        #expect(outcome.lockOuts == ["1.0 from 2027-01-01T00:00:00Z pin-mismatch"])
        let headline =
            "From 2027-01-01 on, certbot makes new keys for api.example.com: the pin of \"current\" in version 1.0 "
            + "then matches nothing."
        #expect(renewed.words.contains("Version 1.0 cannot connect to api.example.com. \(headline) Not simulated: "))
        #expect(try page(renewed).contains(headline.replacing("\"", with: "&quot;")))
        let renewal = try #require(outcome.elements("renewals").first)
        #expect(outcome.text(renewal, "client") == "certbot")
        #expect(outcome.text(renewal, "keys") == "new")
        #expect(outcome.text(renewal, "from") == "2027-01-01T00:00:00Z")
        #expect(renewal["every"]?.integer == 61)
        #expect(renewal["lifetime"]?.integer == 92)
        #expect(renewal["endsPinsOf"]?.elements?.compactMap(\.string) == ["1.0"])
        #expect(outcome.text(renewal, "message") == headline)
        let advice = try #require(outcome.elements("advice").first { outcome.text($0, "id") == "use-known-key" })
        #expect(
            outcome.text(advice, "message")
                == "or renew for the key \"current\" every time (certbot: --reuse-key), which version 1.0 pins already")

        let kept = scene(#"{"client": "certbot", "keys": "same"}"#)
        let twin = try kept.outcome()
        #expect(twin.code == 0)
        #expect(twin.lockOuts == [])
        let keptRenewal = try #require(twin.elements("renewals").first)
        #expect(twin.text(keptRenewal, "keys") == "same")
        #expect(keptRenewal["endsPinsOf"] == nil)
        #expect(kept.words.contains("No simulated version is locked out. Not simulated: "))
    }

    @Test("The headline names a pin that ends, although another pin keeps the version connected")
    func endedPin() throws {
        var ended = scene(#""lego""#)
        ended.rule = #""pins": ["\#(PlanFixture.current)"], "backupPins": ["\#(PlanFixture.root)"]"#
        #expect(try ended.outcome().code == 0)
        #expect(
            ended.words.contains(
                "No simulated version is locked out. From 2027-01-01 on, lego makes new keys for api.example.com: "))
        // The twin pins only the authority.
        ended.rule = #""pins": ["\#(PlanFixture.root)"], "backupPins": ["\#(PlanFixture.spare)"]"#
        #expect(!ended.words.contains("makes new keys"))
        // A pin of the authorities matches no leaf.
        ended.rule = """
            "pins": [{"spki": "\(PlanFixture.current)", "at": "ca"}, "\(PlanFixture.root)"],
            "backupPins": ["\(PlanFixture.spare)"]
            """
        #expect(!ended.words.contains("makes new keys"))
    }

    @Test("Each client keeps or changes the key as it does by default")
    func defaults() throws {
        let ends: [RenewalClient] = try RenewalClient.allCases.filter {
            try scene("\"\($0.rawValue)\"").outcome().code == 1
        }
        #expect(ends == [.certbot, .certManager, .lego, .caddy])
        // Each has an option that does the opposite.
        for client in RenewalClient.allCases {
            let keys = client.makesNewKeys ? "same" : "new"
            let outcome = try scene(#"{"client": "\#(client.rawValue)", "keys": "\#(keys)"}"#).outcome()
            #expect(outcome.code == (client.makesNewKeys ? 0 : 1), "\(client)")
        }
    }

    @Test("Members beside the client's name replace its defaults and the listed certificate's values")
    func overridden() throws {
        let outcome = try scene(
            #"{"client": "caddy", "lifetime": 47, "authorities": ["root", "root B"]}"#, isPinned: false
        ).outcome()
        #expect(outcome.code == 0)
        let renewal = try #require(outcome.elements("renewals").first)
        #expect(outcome.elements("renewals").count == 1)
        #expect(renewal["lifetime"]?.integer == 47)
        #expect(renewal["every"]?.integer == 31)
        let later = try scene(#"{"client": "caddy", "from": "2027-01-20", "every": 10}"#).outcome()
        #expect(later.lockOuts == ["1.0 from 2027-01-20T00:00:00Z pin-mismatch"])
        #expect(later.elements("renewals").first?["every"]?.integer == 10)
    }

    @Test("A first renewal after the plan's end is not simulated")
    func laterThanPlan() throws {
        var early = scene(#""certbot""#)
        early.until = "2026-12-31"
        let outcome = try early.outcome()
        #expect(outcome.code == 0)
        #expect(outcome.document["renewals"] == nil)
        early.until = "2027-01-02"
        #expect(try early.outcome().code == 1)
    }

    @Test("A client needs the certificate that it renews, or the members that describe its renewals")
    func clientWithoutCertificate() throws {
        func error(_ renews: String) throws -> JSONValue? {
            let text = scene(renews).text.replacing(
                #""serves": [{"from": "2026-11-01", "certificate": "listed"}],"#, with: "")
            return try ToolRun("plan", "-", "--json", "--at", "2027-02-01", input: Array(text.utf8)).json()["error"]
        }
        let missing = try error(#""certbot""#)
        #expect(missing?["code"]?.string == "missing-key")
        #expect(
            missing?["message"]?.string
                == "servers[0].renews is the name of a client, and no certificate is listed before")
        #expect(
            missing?["hint"]?.string
                == "list the certificate that is renewed in \"serves\", or write \"renews\": {...}")
        #expect(
            try error(
                #"{"client": "certbot", "from": "2027-01-10", "lifetime": 47, "authorities": ["root"]}"#) == nil)
    }

    @Test("A client that keeps the key renews after its own number of days, at least one")
    func days() {
        func days(_ client: RenewalClient) -> [Int] { [90, 47, 6, 1].map(client.daysToRenewal) }
        #expect(days(.acmeSh) == [29, 29, 4, 1])
        #expect(days(.traefik) == [60, 17, 1, 1])
        #expect(days(.step) == [60, 31, 4, 1])
        // These two halve short lifetimes, up to 9 and up to 10 days.
        #expect([9, 10, 11].map(RenewalClient.certbot.daysToRenewal) == [4, 6, 7])
        #expect([9, 10, 11].map(RenewalClient.lego.daysToRenewal) == [4, 5, 7])
    }

    @Test("The article on pins has the table of the clients")
    func article() throws {
        let article = String(
            decoding: try Recipes.file("Sources/Pintle/Pintle.docc/ChoosingPins.md"), as: UTF8.self)
        let rows = article.split(separator: "\n").filter { $0.hasPrefix("|") }.map { row in
            row.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
        }
        for client in RenewalClient.allCases {
            let row = try #require(
                rows.first { $0.first?.lowercased().hasPrefix(client.rawValue) == true }, "\(client)")
            let days = [90, 64, 47, 6].map { "\(client.daysToRenewal(ofLifetime: $0))" }.joined(separator: ", ")
            #expect(row.last == (client.makesNewKeys ? days : "through renewals"), "\(client)")
            #expect(row[1].hasPrefix(client.makesNewKeys ? "new" : "kept"), "\(client)")
            #expect(row[2].replacing("`", with: "") == client.keepsKey, "\(client)")
        }
    }

    @Test("A server needs a list or a pattern, and need not have both")
    func patternOnly() throws {
        let scene = Scene()
        let text = scene.text.replacing(
            #""serves": [{"from": "2026-11-01", "certificate": "listed"}],"#, with: "")
        let run = ToolRun("plan", "-", "--json", "--at", "2027-02-01", input: Array(text.utf8))
        #expect(run.code == 0, "\(run.output)")
        let neither = text.replacing(",\n  \"renews\": \(scene.renews)", with: "")
            .replacing("  \"renews\": \(scene.renews)", with: #""port": 443"#)
        let error = try ToolRun("plan", "-", "--json", "--at", "2027-02-01", input: Array(neither.utf8)).json()["error"]
        #expect(error?["code"]?.string == "missing-key")
        #expect(error?["message"]?.string == "servers[0] has no \"serves\"")
        #expect(
            error?["hint"]?.string
                == "add \"serves\": [{\"from\": \"2027-03-01\", \"certificate\": ...}], or \"renews\": {...}")
    }

    @Test("The servers and their authorities make at most 16 cases")
    func cases() throws {
        var scene = Scene()
        func servers(_ count: Int) -> String {
            (0..<count).map { #", {"host": "\#($0).example.com", "renews": \#(Scene.renews())}"# }.joined()
        }
        scene.more = servers(7)
        #expect(try scene.outcome().code == 0)
        scene.renews = Scene.renews(authorities: #"["root", "root B", "next"]"#)
        let run = ToolRun("plan", "-", "--json", "--at", "2026-11-20", input: Array(scene.text.utf8))
        let error = try run.json()["error"]
        #expect(error?["code"]?.string == "too-many")
        #expect(
            error?["message"]?.string
                == "with servers[7].renews.authorities the servers have 17 cases; at most 16 are simulated")
    }
}
