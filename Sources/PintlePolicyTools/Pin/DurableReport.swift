internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleSystem
internal import PintleText

/// The families of servers and authorities, as text and as JSON.
struct DurableReport {
    let file: FamilyFile
    let now: Date

    // MARK: Text

    func report(on rule: DurableRule) -> Report {
        var report = Report(
            "\(rule.endpoint.map { "\($0)   " } ?? "")\(rule.authority.name, .strong)   families: \(file.name)")
        for family in rule.families {
            report.gap()
            if rule.families.count > 1 { report.line("\(family.name)") }
            let columns = family.roots.map { TextLayout.columns(of: $0.name) }.max() ?? 0
            report.layout = Report.FactLayout(indent: 2, labelColumns: columns + 2)
            for root in rule.roots(of: family, file) { report.fact("\(root.root.name)", root.lines) }
        }
        report.gap()
        report.layout = Self.adviceLayout
        report.fact("accepts:", .wrapped("\(Self.meaning(of: rule))"))
        for quotation in rule.authority.advice { report.fact("advice:", Self.quote(quotation)) }
        for quotation in rule.authority.sources { report.fact("source:", Self.quote(quotation)) }
        return report
    }

    private static let adviceLayout = Report.FactLayout(indent: 0, labelColumns: 14)

    private static func quote(_ quotation: AuthorityFamily.Quotation) -> Report.Value {
        .wrapped("\"\(quotation.sentence)\" (\(quotation.url), read \(ValidityText.day(quotation.read)))")
    }

    /// Returns the roots that the built-in families have and the user's file leaves out.
    func omissions(from rule: DurableRule) -> [String] {
        rule.families.flatMap { family in
            file.omissions(in: family).map { root in
                "\(file.path ?? "") leaves out \(root.name), which the built-in family \(family.id) has"
            }
        }
    }

    /// Returns the servers that the rule trusts, and those that it does not keep out.
    private static func meaning(of rule: DurableRule) -> String {
        let names = rule.families.map(\.name)
        let who = names.count == 1 ? names[0] : names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
        return "every server whose certificate for the host comes from \(who). Anyone who controls the host's name can "
            + "get one there; only a pin of your own key keeps such servers out"
    }

    /// The advice for people, which is no part of the result.
    func advice(on rule: DurableRule) -> Report {
        var report = Report()
        report.layout = Self.adviceLayout
        let edges = rule.families.count == 1 ? rule.families.flatMap { file.families.edges(of: $0) } : []
        if !rule.isNamed, !edges.isEmpty {
            report.fact(
                "behind a CDN:",
                .wrapped(
                    """
                    \(edges.map(\.name).joined(separator: ", ")) may also take certificates of other authorities: \
                    pintle pin --authority \(edges[0].id)
                    """))
        }
        let option = file.path.map { " --families \(ShellWord.quoted($0))" } ?? ""
        let source: String
        if let endpoint = rule.endpoint, !rule.isNamed {
            source = "\(endpoint.port == 443 ? endpoint.host.description : endpoint.description) --durable"
        } else {
            source = "--authority \(rule.authority.id) --host \(rule.endpoint.map { "\($0)" } ?? "HOST")"
        }
        report.fact("a policy:", "pintle pin \(source)\(option) --as policy -o policy.json")
        return report
    }

    func report(on server: UnknownAuthority) -> Report {
        var report = Report("\(server.endpoint)   \("its authority is in no family", .warning)", "")
        report.layout.labelColumns = 6
        let ends = ValidityText.day(server.root.validity.notAfter)
        report.fact("root", ["\(claim: server.root.subject)", "\(server.root.publicKeyPin)   to \(ends)"])
        report.gap()
        report.layout = Self.adviceLayout
        report.fact("worth:", .wrapped("\(Self.worth)"))
        return report
    }

    private static let worth =
        "a pin of this root holds as long as certificates come from it. If the authority is yours, that is for you to "
        + "decide; a public authority may use another root at the next renewal, and the families do not list it"

    /// Writes to standard error everything that a pasted rule does not say.
    func warn(_ rules: [DurableRule], _ unknown: [UnknownAuthority], _ console: Console) {
        for rule in rules {
            for missing in rule.families.flatMap(\.missing) {
                console.warn("\(missing.name) is not in the rule: \(missing.origin)")
            }
            for quotation in rule.authority.advice {
                console.hint("\"\(quotation.sentence)\" (\(quotation.url))")
            }
            for omission in omissions(from: rule) { console.warn(omission) }
            console.hint("the rule accepts " + Self.meaning(of: rule))
            let (kind, id) =
                rule.families.count == 1
                ? ("a single authority", "single-authority") : ("authorities only", "shared-authority-only")
            console.hint(
                "'pintle lint' warns of a rule with \(kind): name the file of a key of your own too, or accept the "
                    + "warning with --allow \(id):HOST")
        }
        for server in unknown {
            console.warn(
                "\(server.endpoint): its authority is in no family; the root on its path is "
                    + "\(server.root.publicKeyPin) (\(server.root.subject)): \(Self.worth)")
        }
        if let path = file.path, !file.additions.isEmpty {
            let pins = Set(rules.flatMap(\.pins)).intersection(file.additions)
            for pin in pins.map(\.description).sorted() {
                console.hint("\(pin) is from \(path), not from the built-in file")
            }
        }
        if file.families.isOld(at: now) { console.warn(file.age) }
    }

    // MARK: JSON

    func document(_ rules: [DurableRule], _ unknown: [UnknownAuthority]) -> JSONWriter {
        .document { json in
            json.object("families") { $0.write(Self.facts, of: self) }
            json.objects("rules", rules) { $0.write(DurableRule.facts, of: (rule: $1, file: file)) }
            if !unknown.isEmpty { json.objects("unknown", unknown) { $0.write(UnknownAuthority.facts, of: $1) } }
        }
    }

    /// The facts about the file of families.
    static let facts: [Fact<DurableReport>] = [
        Fact("date") { ValidityText.day($0.file.families.date) }, Fact("file") { $0.file.path },
        Fact("isOld") { $0.file.families.isOld(at: $0.now) },
    ]
}

extension DurableRule {
    static let facts: [Fact<(rule: DurableRule, file: FamilyFile)>] = [
        Fact("source") { $0.rule.endpoint.map { "\($0)" } }, Fact("name") { $0.rule.authority.name },
        Fact("families", "The families", listing: family) { rule, file in
            rule.families.map { (family: $0, roots: rule.roots(of: $0, file)) }
        },
        quotations("sources") { $0.rule.authority.sources }, quotations("advice") { $0.rule.authority.advice },
    ]

    fileprivate func roots(of family: AuthorityFamily, _ file: FamilyFile) -> [Root] {
        family.roots.map { root in
            Root(
                root: root, isOnPath: root.pin.map(seen.contains) ?? false,
                isNew: root.pin.map(file.additions.contains) ?? false)
        }
    }

    static let family: [Fact<(family: AuthorityFamily, roots: [Root])>] = [
        Fact("id") { $0.family.id }, Fact("name") { $0.family.name },
        Fact("roots", "The roots", listing: Root.facts) { $0.roots }, quotations("sources") { $0.family.sources },
    ]

    /// A root of a family, and its state in the rule.
    struct Root {
        let root: AuthorityFamily.Member
        let isOnPath: Bool
        /// A Boolean value that indicates whether the built-in family lacks it.
        let isNew: Bool

        /// The pin, and what is known about it.
        var lines: [Report.Value] {
            guard let pin = root.pin else { return [.wrapped("\("no hash: ", .warning)\(root.origin)")] }
            let known: [Line] = [
                root.notAfter.map { "to \(ValidityText.day($0))" }, isOnPath ? "\("on the path", .good)" : nil,
                isNew ? "not in the built-in family" : nil, root.note.map { "\($0)" },
            ].compactMap(\.self)
            let rest = known.first.map { first in known.dropFirst().reduce(first) { "\($0), \($1)" } }
            return [.whole("\(pin)")] + (rest.map { [.whole($0)] } ?? [])
        }

        static let facts: [Fact<Root>] = [
            Fact("name") { $0.root.name }, Fact("spkiPin") { $0.root.pin?.description },
            Fact("notAfter") { $0.root.notAfter.map { ValidityText.day($0) } },
            Fact("missing") { $0.root.pin == nil ? $0.root.origin : nil },
            Fact("from") { $0.root.pin == nil ? nil : $0.root.origin }, Fact("note") { $0.root.note },
            Fact("onPath") { $0.isOnPath ? true : nil }, Fact("isNew") { $0.isNew ? true : nil },
        ]
    }

    private static func quotations<Subject>(
        _ key: String, _ list: @escaping @Sendable (Subject) -> [AuthorityFamily.Quotation]
    ) -> Fact<Subject> {
        let facts: [Fact<AuthorityFamily.Quotation>] = [
            Fact("sentence") { $0.sentence }, Fact("url") { $0.url }, Fact("read") { ValidityText.day($0.read) },
        ]
        return Fact(key, "Sentences", listing: facts) { list($0).isEmpty ? nil : list($0) }
    }
}

extension UnknownAuthority {
    static let facts: [Fact<UnknownAuthority>] = [
        Fact("source") { "\($0.endpoint)" }, Fact("root") { $0.root.subject.description },
        Fact("spkiPin") { $0.root.publicKeyPin.description }, Fact("notAfter") { $0.root.validity.notAfter },
    ]
}
