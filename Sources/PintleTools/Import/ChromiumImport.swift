internal import Pintle

/// Chromium's static pin list and the file of keys beside it.
///
/// Until 2018 the list of pins was part of the list of hosts that are reached only over https
/// (`transport_security_state_static.json`), most of which have no pins. Since then it is a file of its own. Both are
/// read.
struct ChromiumImport {
    private struct PinSet {
        let place: JSONValue
        var keys: [PublicKeyPin] = []
        var forbidsKeys = false
        var report: String?
        var hasForeignReport = false
    }

    /// An entry without pins.
    private struct Unpinned {
        let host: ServerName
        let isHTTPSOnly: Bool
    }

    private let keys: [String: PublicKeyPin]
    private var unpinned: [Unpinned] = []
    /// The hosts whose sub-domains have pins.
    private var parents: Set<String> = []
    private var sets: [String: PinSet] = [:]
    private var draft = ImportDraft()

    /// - Parameter keys: the content of the file of keys; its errors say `keys` for a file.
    static func read(_ list: [UInt8], keys: ChromiumKeys) throws(ToolError) -> ImportDraft {
        let root = try ForeignJSON.document(list, allowsComments: true).root
        var reader = ChromiumImport(keys: keys.pins)
        var entries: JSONValue?
        for (key, value) in try root.members("the list", known: ["pinsets", "entries", "domain_ids"]) {
            switch key {
            case "entries": entries = value
            case "pinsets": try reader.readSets(value)
            default: reader.draft.lose(.listMetadata, .other, "\(key) numbers domains for statistics: left out")
            }
        }
        guard let entries else {
            throw .unusable("missing-key", "the list has no entries", at: root.place)
        }
        let elements = Array(try entries.elements("entries"))
        // All places are found in one pass, because each search by itself would read the file from its beginning.
        for (entry, place) in zip(elements, JSONDocument.places(of: elements.map(\.offset), in: root)) {
            try reader.read(entry, at: place)
        }
        reader.loseUnpinned()
        if keys.hasTimestamp {
            reader.draft.lose(
                .listAge, .stricter, "pins do not lapse with the list: Chromium stops ten weeks after its timestamp")
        }
        return reader.draft
    }

    private mutating func readSets(_ value: JSONValue) throws(ToolError) {
        for element in try value.elements("pinsets") {
            var set = PinSet(place: element)
            var name: String?
            let known = ["name", "static_spki_hashes", "bad_static_spki_hashes", "report_uri"]
            for (key, value) in try element.members("a pin set", known: known) {
                switch key {
                case "name": name = try value.text(key)
                case "static_spki_hashes":
                    for (text, element) in try value.texts(key) { set.keys.append(try pin(text, at: element)) }
                case "bad_static_spki_hashes":
                    for (text, element) in try value.texts(key) {
                        _ = try pin(text, at: element)
                        set.forbidsKeys = true
                    }
                default:
                    let text = try value.text(key)
                    if ServerEndpoint(httpsURL: text) != nil { set.report = text } else { set.hasForeignReport = true }
                }
            }
            guard let name else {
                throw .unusable("missing-key", "a pin set without a name", at: element.place)
            }
            guard !set.keys.isEmpty else {
                throw .unusable("nothing-pinned", "\(name) has no static_spki_hashes", at: element.place)
            }
            guard sets.updateValue(set, forKey: name) == nil else {
                throw .unusable("duplicate-key", "a second pin set called \(name)", at: element.place)
            }
        }
    }

    private func pin(_ name: String, at value: JSONValue) throws(ToolError) -> PublicKeyPin {
        guard let pin = keys[name] else {
            let nearest = Spelling.suggestion(for: name, among: Array(keys.keys))
            throw .unusable(
                "unknown-pin", "the file of keys has no \(name)\(nearest)", at: value.place,
                hint: "the two files belong together: --keys FILE")
        }
        return pin
    }

    private static let entryKeys = [
        "name", "include_subdomains", "pins", "include_subdomains_for_pinning", "mode", "policy", "expect_ct",
        "expect_ct_report_uri", "expect_staple", "expect_staple_report_uri", "include_subdomains_for_expect_staple",
    ]

    private mutating func read(_ entry: JSONValue, at place: TextPlace) throws(ToolError) {
        var host: ServerName?
        var includesSubdomains = false
        var set: PinSet?
        var lost: Set<String> = []
        for (key, value) in try entry.members("an entry", known: Self.entryKeys) {
            switch key {
            case "name": host = try ForeignValues.host(value.text(key), at: place)
            // Either key covers pins; the first also covers https.
            case "include_subdomains", "include_subdomains_for_pinning":
                if try value.flag(key) { includesSubdomains = true }
            case "pins":
                let name = try value.text(key)
                guard let known = sets[name] else {
                    throw .unusable("unknown-value", "there is no pin set \(name)", at: value.place)
                }
                set = known
            case "expect_ct", "expect_staple", "include_subdomains_for_expect_staple":
                if try value.flag(key) { lost.insert(key) }
            default:
                _ = try value.text(key)
                lost.insert(key)
            }
        }
        guard let host else { throw .unusable("missing-key", "an entry without name", at: place) }
        lose(lost, of: host, isPinned: set != nil)
        guard let set else {
            unpinned.append(Unpinned(host: host, isHTTPSOnly: lost.contains("mode")))
            return
        }
        if includesSubdomains { parents.insert(host.description) }
        var rule = PinnedHost(unchecked: host)
        rule.includesSubdomains = includesSubdomains
        rule.pins = set.keys.map { Pin(.publicKey($0)) }
        if let report = set.report { rule.reportTo = [report] }
        if set.forbidsKeys {
            draft.lose(.badPins, .weaker, "no key is forbidden: bad_static_spki_hashes are left out", rule.description)
        }
        if set.hasForeignReport {
            draft.lose(.reports, .other, "reports go only to https addresses: others are left out", rule.description)
        }
        draft.add(rule, at: place)
    }

    /// Reports the members of an entry that are not about pins.
    private mutating func lose(_ keys: Set<String>, of host: ServerName, isPinned: Bool) {
        guard !keys.isEmpty else { return }
        let name = host.description
        if keys.contains("expect_ct") {
            draft.lose(.certificateTransparency, .weaker, "expect_ct: certificates need not have been logged", name)
        }
        if keys.contains("mode"), isPinned {
            draft.lose(
                .httpsOnly, .other, "mode: a pinned session refuses plain http to hosts with a rule anyway", name)
        }
        if keys.contains(where: { $0.contains("expect_staple") }) {
            draft.lose(.stapling, .other, "expect_staple: missing OCSP responses are not reported", name)
        }
        if keys.contains("expect_ct_report_uri") {
            draft.lose(.reports, .other, "expect_ct_report_uri: problems with certificate logs are not reported", name)
        }
        if keys.contains("policy") {
            draft.lose(.listMetadata, .other, "policy: the reason why a host is in the list is left out", name)
        }
    }

    /// Leaves out an entry without pins. Chromium exempts its host from the pins of a parent domain; here these pins
    /// apply to it.
    private mutating func loseUnpinned() {
        for entry in unpinned {
            let name = entry.host.description
            var isUnderPins = false
            var rest = entry.host.ipAddress == nil ? name[...] : ""
            while !isUnderPins, let dot = rest.firstIndex(of: ".") {
                rest = rest[rest.index(after: dot)...]
                isUnderPins = parents.contains(String(rest))
            }
            if isUnderPins {
                draft.lose(.exclusion, .stricter, "an entry without pins: the pins of its parent domain hold", name)
            } else if entry.isHTTPSOnly {
                draft.lose(.httpsOnly, .weaker, "mode, without pins: no rule, and plain http is not refused", name)
            } else {
                draft.lose(.listMetadata, .other, "an entry without pins: no rule", name)
            }
        }
    }
}
