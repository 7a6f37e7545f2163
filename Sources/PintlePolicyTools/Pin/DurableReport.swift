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
            for root in family.roots {
                guard let pin = root.pin else {
                    report.fact("\(root.name)", .wrapped("\("no hash: ", .warning)\(root.origin)"))
                    continue
                }
                report.fact("\(root.name)", "\(pin)")
                let facts: [Line?] = [
                    root.notAfter.map { "to \(ValidityText.day($0))" },
                    rule.seen.contains(pin) ? "\("on the path", .good)" : nil,
                    file.additions.contains(pin) ? "not in the built-in family" : nil, root.note.map { "\($0)" },
                ]
                let known = facts.compactMap(\.self)
                if let first = known.first { report.fact("", known.dropFirst().reduce(first) { "\($0), \($1)" }) }
            }
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
            for family in rule.families {
                for root in file.omissions(in: family) {
                    console.warn("\(root.name) is not in the rule: \(file.path ?? "") leaves it out")
                }
            }
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
            json.object("families") { json in
                json.member("date", ValidityText.day(file.families.date))
                json.member("file", file.path)
                json.member("isOld", file.families.isOld(at: now))
            }
            json.objects("rules", rules, write)
            guard !unknown.isEmpty else { return }
            json.objects("unknown", unknown) { json, server in
                json.member("source", "\(server.endpoint)")
                json.member("root", server.root.subject.description)
                json.member("spkiPin", server.root.publicKeyPin.description)
                json.member("notAfter", server.root.validity.notAfter)
            }
        }
    }

    private func write(_ json: inout JSONWriter, _ rule: DurableRule) {
        json.member("source", rule.endpoint.map { "\($0)" })
        json.member("name", rule.authority.name)
        json.objects("families", rule.families) { json, family in
            json.member("id", family.id)
            json.member("name", family.name)
            json.objects("roots", family.roots) { json, root in write(root, seen: rule.seen, to: &json) }
            write(family.sources, as: "sources", to: &json)
        }
        write(rule.authority.sources, as: "sources", to: &json)
        write(rule.authority.advice, as: "advice", to: &json)
    }

    private func write(_ root: AuthorityFamily.Member, seen: [PublicKeyPin], to json: inout JSONWriter) {
        json.member("name", root.name)
        json.member("spkiPin", root.pin?.description)
        json.member("notAfter", root.notAfter.map { ValidityText.day($0) })
        json.member(root.pin == nil ? "missing" : "from", root.origin)
        json.member("note", root.note)
        guard let pin = root.pin else { return }
        if seen.contains(pin) { json.member("onPath", true) }
        if file.additions.contains(pin) { json.member("isNew", true) }
    }

    private func write(_ quotations: [AuthorityFamily.Quotation], as key: String, to json: inout JSONWriter) {
        guard !quotations.isEmpty else { return }
        json.objects(key, quotations) { json, quotation in
            json.member("sentence", quotation.sentence)
            json.member("url", quotation.url)
            json.member("read", ValidityText.day(quotation.read))
        }
    }
}
