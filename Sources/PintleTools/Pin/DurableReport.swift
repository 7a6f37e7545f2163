internal import Pintle
internal import PintleSystem

/// The families of servers and authorities, as text and as JSON.
struct DurableReport {
    let file: FamilyFile
    let console: Console
    let now: Date

    // MARK: Text

    func print(_ rules: [DurableRule], _ unknown: [UnknownAuthority]) {
        for (index, rule) in rules.enumerated() {
            if index > 0 { console.print() }
            print(rule)
        }
        for (index, server) in unknown.enumerated() {
            if index > 0 || !rules.isEmpty { console.print() }
            print(server)
        }
        if file.families.isOld(at: now) { console.warn(file.age) }
    }

    private func print(_ rule: DurableRule) {
        let subject = rule.endpoint.map { "\($0)   " } ?? ""
        console.print("\(subject)\(console.palette.strong(rule.name))   families: \(SafeText.escape(file.name))")
        for family in rule.families {
            console.print()
            if rule.families.count > 1 { console.print(family.name) }
            let width = family.roots.map { TextLayout.columns(of: $0.name) }.max() ?? 0
            for root in family.roots {
                let name = TextLayout.padded(root.name, to: width)
                guard let pin = root.pin else {
                    prose("  \(name)  ", console.palette.warning("no hash: ") + root.origin)
                    continue
                }
                let facts = [
                    root.notAfter.map { "to \(ValidityText.day($0))" },
                    rule.seen.contains(pin) ? console.palette.good("on the path") : nil,
                    file.additions.contains(pin) ? "not in the built-in family" : nil, root.note,
                ].compactMap(\.self)
                console.print("  \(name)  \(pin)")
                if !facts.isEmpty {
                    console.print("  \(String(repeating: " ", count: width))  \(facts.joined(separator: ", "))")
                }
            }
        }
        for family in rule.families {
            for root in file.omissions(in: family) {
                console.warn("\(file.path ?? "") leaves out \(root.name), which the built-in family \(family.id) has")
            }
        }
        console.print()
        prose("accepts:      ", Self.meaning(of: rule))
        for quotation in rule.advice { quote("advice:       ", quotation) }
        for quotation in rule.sources { quote("source:       ", quotation) }
        printNext(rule)
    }

    /// Returns the servers that the rule trusts, and those that it does not keep out.
    private static func meaning(of rule: DurableRule) -> String {
        let names = rule.families.map(\.name)
        let who = names.count == 1 ? names[0] : names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
        return "every server whose certificate for the host comes from \(who). Anyone who controls the host's name can "
            + "get one there; only a pin of your own key keeps such servers out"
    }

    private func printNext(_ rule: DurableRule) {
        let edges = rule.families.count == 1 ? rule.families.flatMap { file.families.edges(of: $0) } : []
        if !rule.isNamed, !edges.isEmpty {
            prose(
                "behind a CDN: ",
                "\(edges.map(\.name).joined(separator: ", ")) may also take certificates of other authorities: "
                    + "pintle pin --authority \(edges[0].id)", toStandardError: true)
        }
        let option = file.path.map { " --families \(ShellWord.quoted($0))" } ?? ""
        let source: String
        if let endpoint = rule.endpoint, !rule.isNamed {
            source = "\(endpoint.port == 443 ? endpoint.host.description : endpoint.description) --durable"
        } else {
            source = "--authority \(rule.id) --host \(rule.endpoint.map { "\($0)" } ?? "HOST")"
        }
        console.printMessage("a policy:     pintle pin \(source)\(option) --as policy -o policy.json")
    }

    private func print(_ server: UnknownAuthority) {
        console.print("\(server.endpoint)   \(console.palette.warning("its authority is in no family"))")
        console.print()
        console.print("  root  \(SafeText.claim(server.root.subject.description))")
        console.print("        \(server.root.publicKeyPin)   to \(ValidityText.day(server.root.validity.notAfter))")
        console.print()
        prose("worth:        ", Self.worth)
    }

    private static let worth =
        "a pin of this root holds as long as certificates come from it. If the authority is yours, that is for you to "
        + "decide; a public authority may use another root at the next renewal, and the families do not list it"

    private func quote(_ label: String, _ quotation: AuthorityFamily.Quotation) {
        prose(label, "\"\(quotation.sentence)\" (\(quotation.url), read \(ValidityText.day(quotation.read)))")
    }

    private func prose(_ label: String, _ text: String, toStandardError: Bool = false) {
        let indent = TextLayout.columns(of: label)
        for (index, line) in TextLayout.wrapped(text, width: max(40, console.width - indent)).enumerated() {
            let whole = (index == 0 ? label : String(repeating: " ", count: indent)) + line
            if toStandardError { console.printMessage(whole) } else { console.print(whole) }
        }
    }

    /// Writes to standard error everything that a pasted rule does not say.
    func warn(_ rules: [DurableRule], _ unknown: [UnknownAuthority]) {
        for rule in rules {
            for missing in rule.families.flatMap(\.missing) {
                console.warn("\(missing.name) is not in the rule: \(missing.origin)")
            }
            for quotation in rule.advice {
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
                "'pintle lint' warns of a rule with \(kind): name the file of a key of your own too, or accept the warning with "
                    + "--allow \(id):HOST")
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
        var json = JSONWriter(.pretty)
        json.object { json in
            json.object("families") { json in
                json.member("date", ValidityText.day(file.families.date))
                json.member("file", file.path)
                json.member("isOld", file.families.isOld(at: now))
            }
            json.array("rules") { json in
                for rule in rules { write(rule, to: &json) }
            }
            guard !unknown.isEmpty else { return }
            json.array("unknown") { json in
                for server in unknown {
                    json.object { json in
                        json.member("source", "\(server.endpoint)")
                        json.member("root", server.root.subject.description)
                        json.member("spkiPin", server.root.publicKeyPin.description)
                        json.member("notAfter", RFC3339.string(from: server.root.validity.notAfter))
                    }
                }
            }
        }
        return json
    }

    private func write(_ rule: DurableRule, to json: inout JSONWriter) {
        json.object { json in
            json.member("source", rule.endpoint.map { "\($0)" })
            json.member("name", rule.name)
            json.array("families") { json in
                for family in rule.families {
                    json.object { json in
                        json.member("id", family.id)
                        json.member("name", family.name)
                        json.array("roots") { json in
                            for root in family.roots { write(root, seen: rule.seen, to: &json) }
                        }
                        write(family.sources, as: "sources", to: &json)
                    }
                }
            }
            write(rule.sources, as: "sources", to: &json)
            write(rule.advice, as: "advice", to: &json)
        }
    }

    private func write(_ root: AuthorityFamily.Member, seen: [PublicKeyPin], to json: inout JSONWriter) {
        json.object { json in
            json.member("name", root.name)
            json.member("spkiPin", root.pin?.description)
            json.member("notAfter", root.notAfter.map { ValidityText.day($0) })
            json.member(root.pin == nil ? "missing" : "from", root.origin)
            json.member("note", root.note)
            guard let pin = root.pin else { return }
            if seen.contains(pin) { json.member("onPath", true) }
            if file.additions.contains(pin) { json.member("isNew", true) }
        }
    }

    private func write(_ quotations: [AuthorityFamily.Quotation], as key: String, to json: inout JSONWriter) {
        guard !quotations.isEmpty else { return }
        json.array(key) { json in
            for quotation in quotations {
                json.object { json in
                    json.member("sentence", quotation.sentence)
                    json.member("url", quotation.url)
                    json.member("read", ValidityText.day(quotation.read))
                }
            }
        }
    }
}
