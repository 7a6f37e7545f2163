internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleText

/// Android's network security configuration. To the policy belongs each `domain-config` that has a `pin-set`, that
/// names a host of the policy, or that trusts a root which this command has written. All other elements stay.
struct SecurityConfigFile: NativeFile {
    private let bytes: [UInt8]
    private let root: XMLElement
    private let own: [XMLElement]
    let meaning: NativeMeaning
    /// The certificates that any element names: `@raw/my_root`
    let sources: Set<String>

    /// The hosts of the rules that are exported.
    struct Rules {
        let hosts: Set<String>
        /// Those with pins, whose rules also cover sub-domains.
        let pinnedWithSubdomains: Set<String>

        /// Returns the nearest host above this one whose pins cover it.
        func parent(of host: String) -> String? {
            // A longer text is no name, and has too many labels to try.
            guard host.utf8.count <= 253 else { return nil }
            let labels = host.split(separator: ".")
            return labels.indices.dropFirst().lazy.map { labels[$0...].joined(separator: ".") }
                .first(where: pinnedWithSubdomains.contains)
        }
    }

    /// - Parameter rules: those of the policy; `nil` for an export, which is the policy's as a whole.
    init(_ bytes: [UInt8], rules: Rules?) throws(ToolError) {
        try XMLEdit.check(bytes)
        root = try XMLDocument.root(bytes)
        self.bytes = bytes
        guard root.name == "network-security-config" else {
            throw .unusable("not-nsc", "the root is <\(root.name)>, not <network-security-config>", at: root.place)
        }
        var seen: Set<String> = []
        var own: [XMLElement] = []
        for config in root.children where config.name == "domain-config" {
            let hosts = Self.domains(of: config)
            for (host, place) in hosts where !seen.insert(host).inserted {
                throw .unusable(
                    "duplicate-key", "\(host) is in two elements, and Android refuses the file", at: place,
                    hint: "join the two")
            }
            let isOwn = Self.isPinned(config) || Self.trustsWrittenRoot(config)
            guard isOwn || hosts.contains(where: { rules?.hosts.contains($0.host) ?? true }) else {
                try Self.checkForeign(hosts, rules)
                continue
            }
            try Self.check(config, isOwn ? [] : hosts, rules?.hosts)
            own.append(config)
        }
        self.own = own
        sources = Self.sources(in: root)
        var facts: [String] = []
        var groups: [NativeMeaning.Group] = []
        for config in own {
            var hosts: [String] = []
            for domain in config.children where domain.name == "domain" {
                hosts.append(NativeMeaning.word(Self.host(of: domain)))
                facts.append(Self.line(domain, hosts[hosts.count - 1], text: false))
            }
            var terms = Self.attributes(of: config).map { "\($0.name)=\(JSONWriter.quoted($0.value))" }
            for child in config.children where child.name != "domain" { Self.add(child, "", to: &terms) }
            groups.append(NativeMeaning.Group(hosts: hosts, facts: terms))
        }
        meaning = NativeMeaning(
            facts: facts, groups: groups,
            hosts: Set(own.filter(Self.isPinned).flatMap(Self.domains).map(\.host)))
    }

    private static func sources(in root: XMLElement) -> Set<String> {
        var sources: Set<String> = []
        var rest = [root]
        while let element = rest.popLast() {
            if element.name == "certificates", let source = element.attribute("src") { sources.insert(source) }
            rest += element.children
        }
        return sources
    }

    /// - Throws: an error for an element by which Android does not pin what the policy pins.
    private static func checkForeign(_ hosts: [(host: String, place: TextPlace)], _ rules: Rules?) throws(ToolError) {
        for (host, place) in hosts {
            guard let parent = rules?.parent(of: host) else { continue }
            throw .unusable(
                "unpinned-below",
                "\(host) has no pins here, so Android does not pin it, and the policy pins the "
                    + "sub-domains of \(parent)", at: place,
                hint: "take the element out, or give \(host) a rule of its own in the policy")
        }
    }

    /// - Throws: an error for an element that cannot be replaced without a loss, or that Android refuses.
    private static func check(
        _ config: XMLElement, _ hosts: [(host: String, place: TextPlace)], _ ruled: Set<String>?
    ) throws(ToolError) {
        if let nested = config.children.first(where: { $0.name == "domain-config" }) {
            throw .unusable(
                "nested-config", "a domain-config inside one with pins or a host of the policy", at: nested.place,
                hint: "move it out, with the settings that it inherits")
        }
        guard config.children.contains(where: { $0.name == "domain" }) else {
            throw .unusable(
                "no-domain", "a domain-config without a domain, and Android refuses the file", at: config.place,
                hint: "name a domain in it, or take it out")
        }
        for name in ["pin-set", "trust-anchors"] {
            let same = config.children.filter { $0.name == name }
            guard same.count < 2 else {
                throw .unusable("duplicate-key", "<\(name)> is there twice", at: same[1].place, hint: "join the two")
            }
        }
        guard let ruled, !config.children.contains(where: { $0.name == "pin-set" }),
            let other = hosts.first(where: { !ruled.contains($0.host) })
        else { return }
        throw .unusable(
            "mixed-config", "a domain-config without pins is for hosts of the policy and for \(other.host)",
            at: other.place, hint: "give \(other.host) a domain-config of its own")
    }

    private static func isPinned(_ config: XMLElement) -> Bool {
        config.children.contains { $0.name == "pin-set" || ($0.name == "domain-config" && isPinned($0)) }
    }

    /// Returns whether an element trusts a root that `pintle sync` has written beside the file.
    private static func trustsWrittenRoot(_ config: XMLElement) -> Bool {
        config.children.contains { child in
            let source = child.attributes.first { $0.name == "src" }?.value ?? ""
            return child.name == "certificates" && source.hasPrefix("@raw/" + NSCExport.rootPrefix)
                || child.name == "trust-anchors" && trustsWrittenRoot(child)
        }
    }

    /// Returns the domains of an element and of those inside.
    private static func domains(of config: XMLElement) -> [(host: String, place: TextPlace)] {
        var found: [(host: String, place: TextPlace)] = []
        for child in config.children {
            if child.name == "domain" { found.append((host(of: child), child.place)) }
            if child.name == "domain-config" { found += domains(of: child) }
        }
        return found
    }

    private static func host(of domain: XMLElement) -> String { domain.text.trimmed.lowercased() }

    // MARK: Meaning

    private static func add(_ element: XMLElement, _ path: String, to facts: inout [String]) {
        let path = (path.isEmpty ? "" : path + " ") + NativeMeaning.word(element.name)
        if element.children.isEmpty || !attributes(of: element).isEmpty {
            facts.append(Self.line(element, path, text: true))
        }
        for child in element.children { add(child, path, to: &facts) }
    }

    private static func line(_ element: XMLElement, _ path: String, text: Bool) -> String {
        let values = attributes(of: element).map { "\($0.name)=\(JSONWriter.quoted($0.value))" }.sorted()
        let content = text ? element.text.trimmed : ""
        return ([path] + values + (content.isEmpty ? [] : [JSONWriter.quoted(content)])).joined(separator: " ")
    }

    /// The attributes that Android reads, which have no namespace.
    private static func attributes(of element: XMLElement) -> [(name: String, value: String)] {
        element.attributes.filter { isRead($0.name) }.map { (NativeMeaning.word($0.name), $0.value) }
    }

    private static func isRead(_ attribute: String) -> Bool { !attribute.contains(":") && attribute != "xmlns" }

    // MARK: Change

    func replacing(by exported: SecurityConfigFile) throws(ToolError) -> (bytes: [UInt8], lostComments: Int) {
        let edit = XMLEdit(bytes, parent: root, unit: "    ")
        let new = exported.own.map { XMLEdit.lines(of: $0, in: exported.bytes) }
        for config in own {
            try XMLEdit.checkNothingIsLost(
                of: config, remedy: "move it out of <domain-config>, to <network-security-config>: there it stays",
                named: Self.isRead)
        }
        guard !own.isEmpty else { return (new.isEmpty ? bytes : edit.inserting(new, into: root), 0) }
        return (edit.replacing(own, by: new), own.reduce(0) { $0 + $1.comments })
    }
}

extension SecurityConfigFile.Rules {
    init(_ rules: [ExportRule]) {
        self.init(
            hosts: Set(rules.map(\.host.description)),
            pinnedWithSubdomains: Set(
                rules.filter { $0.isPinned && $0.includesSubdomains }.map(\.host.description)))
    }
}
