internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintlePolicyLint
internal import PintleStorage
internal import PintleText

/// A reader of `NSPinnedDomains`: in an Info.plist, in an `NSAppTransportSecurity` dictionary, or by itself.
enum ATSImport {
    static func read(_ bytes: [UInt8]) throws(ToolError) -> ImportDraft {
        let root = try PropertyListReader.root(bytes)
        // The other keys of an Info.plist have nothing to do with pins.
        let settings = root["NSAppTransportSecurity"] ?? root
        guard let domains = settings["NSPinnedDomains"] else {
            throw .unusable(
                "nothing-pinned", "no NSAppTransportSecurity with NSPinnedDomains", at: root.place,
                hint: "give the app's Info.plist")
        }
        var draft = ImportDraft()
        var entries: [Entry] = []
        for member in try domains.dictionary("NSPinnedDomains") { entries.append(try entry(member)) }
        let places = Dictionary(entries.enumerated().map { ($1.host, $0) }) { first, _ in first }
        for entry in entries { add(entry, above: parent(of: entry, entries, places), to: &draft) }
        for member in settings.members ?? [] { try lose(member, from: &draft) }
        return draft
    }

    /// Reads the pins of an Info.plist as the system enforces them; `nil` if the file has none.
    static func pins(inFile path: String) throws(ToolError) -> InfoPlistPins? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try RegularFile.content(path, limit: ForeignLimits.fileSize)
        } catch {
            throw .unusable(error.id, error.message, file: path, hint: error.help)
        }
        do throws(ToolError) {
            return try pins(in: bytes, file: path)
        } catch {
            throw error.placed(in: path)
        }
    }

    static func pins(in bytes: [UInt8], file: String) throws(ToolError) -> InfoPlistPins? {
        let root = try PropertyListReader.root(bytes)
        guard let domains = (root["NSAppTransportSecurity"] ?? root)["NSPinnedDomains"] else { return nil }
        var entries: [ServerName: InfoPlistPins.Entry] = [:]
        for member in try domains.dictionary("NSPinnedDomains") {
            let entry = try entry(member)
            entries[entry.host] = InfoPlistPins.Entry(
                includesSubdomains: entry.includesSubdomains, leaves: Set(entry.leaves),
                authorities: Set(entry.authorities))
        }
        return InfoPlistPins(file: file, entries: entries)
    }

    // MARK: Settings that a policy cannot have

    private static let switches = [
        "NSAllowsArbitraryLoads", "NSAllowsArbitraryLoadsForMedia", "NSAllowsArbitraryLoadsInMedia",
        "NSAllowsArbitraryLoadsInWebContent", "NSAllowsLocalNetworking",
    ]

    private static func lose(_ member: Setting.Member, from draft: inout ImportDraft) throws(ToolError) {
        switch member.key {
        case "NSPinnedDomains": break
        case "NSExceptionDomains":
            for domain in try member.value.dictionary(member.key) {
                for setting in try domain.value.dictionary(domain.key) {
                    try lose(setting, of: SafeText.escape(String(domain.key.prefix(253))), from: &draft)
                }
            }
        case let key where switches.contains(key):
            guard try member.value.boolean(key) else { break }
            draft.lose(.cleartext, .stricter, "\(key): plain http to hosts with pins is refused, not permitted")
        default:
            throw .unknownKey(
                member.key, in: "NSAppTransportSecurity", at: member.place,
                known: ["NSPinnedDomains", "NSExceptionDomains"] + switches)
        }
    }

    private static let exceptions = [
        "NSIncludesSubdomains", "NSRequiresCertificateTransparency", "NSExceptionAllowsInsecureHTTPLoads",
        "NSExceptionMinimumTLSVersion", "NSExceptionRequiresForwardSecrecy",
    ]

    /// Names a setting of `NSExceptionDomains`. Apple also reads names from 2015 that say whose domain it is, such as
    /// `NSThirdPartyExceptionMinimumTLSVersion`.
    private static func lose(
        _ setting: Setting.Member, of domain: String, from draft: inout ImportDraft
    ) throws(ToolError) {
        let key = setting.key
        let former = ["NSTemporaryThirdPartyException", "NSThirdPartyException", "NSTemporaryException"]
            .first { key.hasPrefix($0) }
        switch former.map({ "NSException" + key.dropFirst($0.count) }) ?? key {
        case "NSIncludesSubdomains": _ = try setting.value.boolean(key)
        case "NSRequiresCertificateTransparency":
            guard try setting.value.boolean(key) else { break }
            draft.lose(.certificateTransparency, .weaker, "\(key): certificates need not have been logged", domain)
        case "NSExceptionAllowsInsecureHTTPLoads":
            guard try setting.value.boolean(key) else { break }
            draft.lose(
                .cleartext, .stricter, "\(key): plain http to hosts with pins is refused, not permitted", domain)
        case "NSExceptionMinimumTLSVersion":
            switch try setting.value.string(key) {
            case "TLSv1.0", "TLSv1.1":
                draft.lose(.tlsSettings, .stricter, "\(key): a session needs TLS 1.2", domain)
            case "TLSv1.2": break
            case "TLSv1.3": draft.lose(.tlsSettings, .weaker, "\(key): a session also takes TLS 1.2", domain)
            case let text:
                throw .unusable(
                    "unknown-value", "\"\(text)\" is not a version of TLS", at: setting.value.place,
                    hint: "write it like TLSv1.3")
            }
        case "NSExceptionRequiresForwardSecrecy":
            if try setting.value.boolean(key) { break }
            draft.lose(.tlsSettings, .other, "\(key): a policy has no settings of TLS", domain)
        default: throw .unknownKey(key, in: domain, at: setting.place, known: exceptions)
        }
    }

    // MARK: Pins

    private static let knownKeys = ["NSIncludesSubdomains", "NSPinnedCAIdentities", "NSPinnedLeafIdentities"]

    /// An entry of `NSPinnedDomains`. A list without keys is one that the entry does not have.
    private struct Entry {
        let host: ServerName
        let place: TextPlace
        var includesSubdomains = false
        var leaves: [PublicKeyPin] = []
        var authorities: [PublicKeyPin] = []

        /// Returns the entry with the keys of another, as iOS adds them up for a host that both cover.
        func joined(with other: Entry) -> Entry {
            var joined = self
            joined.leaves += other.leaves.filter { !leaves.contains($0) }
            joined.authorities += other.authorities.filter { !authorities.contains($0) }
            return joined
        }

        /// Returns whether iOS accepts every server by this entry that it accepts by the other one.
        func accepts(all other: Entry) -> Bool {
            [(leaves, other.leaves), (authorities, other.authorities)].allSatisfy { own, others in
                own.isEmpty || !others.isEmpty && Set(others).isSubset(of: own)
            }
        }
    }

    private static func entry(_ member: Setting.Member) throws(ToolError) -> Entry {
        var entry = Entry(host: try ForeignValues.host(member.key, at: member.place), place: member.place)
        for setting in try member.value.dictionary(member.key) {
            switch setting.key {
            case "NSIncludesSubdomains": entry.includesSubdomains = try setting.value.boolean(setting.key)
            case "NSPinnedCAIdentities": entry.authorities = try keys(setting)
            case "NSPinnedLeafIdentities": entry.leaves = try keys(setting)
            default: throw .unknownKey(setting.key, in: member.key, at: setting.place, known: knownKeys)
            }
        }
        guard !entry.leaves.isEmpty || !entry.authorities.isEmpty else {
            throw .unusable(
                "nothing-pinned", "\(member.key) has neither CA nor leaf identities", at: member.place,
                hint: "App Transport Security wants one of them")
        }
        return entry
    }

    /// Returns the entry that also covers the host: the one for the name without its first label, with sub-domains.
    private static func parent(of entry: Entry, _ entries: [Entry], _ places: [ServerName: Int]) -> Entry? {
        guard entry.host.labels.count > 1,
            let name = try? ServerName(entry.host.labels.dropFirst().joined(separator: ".")), let place = places[name],
            entries[place].includesSubdomains
        else { return nil }
        return entries[place]
    }

    /// Adds the rule of an entry. The rule has the pins of the parent domain too, because iOS adds them up.
    private static func add(_ entry: Entry, above parent: Entry?, to draft: inout ImportDraft) {
        let joined = parent.map(entry.joined) ?? entry
        var rule = PinnedHost(unchecked: entry.host)
        rule.includesSubdomains = entry.includesSubdomains
        rule.pins =
            joined.authorities.map { Pin(.publicKey($0), at: .ca) }
            + joined.leaves.map { Pin(.publicKey($0), at: .leaf) }
        if !joined.leaves.isEmpty, !joined.authorities.isEmpty { rule.requires = .leafAndCA }
        if rule.includesSubdomains {
            draft.lose(
                .subdomains, .stricter, "sub-domains of every depth are pinned, not only those of one label",
                rule.description)
            // One label below, only the entry itself counts.
            if !entry.accepts(all: joined) {
                draft.lose(
                    .pooling, .weaker, "sub-domains also accept the pins of the parent domain", rule.description)
            }
            if !joined.accepts(all: entry) {
                draft.lose(
                    .pooling, .stricter, "sub-domains must also match the parent domain's other list",
                    rule.description)
            }
        }
        draft.add(rule, at: entry.place)
    }

    private static func keys(_ member: Setting.Member) throws(ToolError) -> [PublicKeyPin] {
        var pins: [PublicKeyPin] = []
        for identity in try member.value.array(member.key) {
            for setting in try identity.dictionary("an identity") {
                guard setting.key == "SPKI-SHA256-BASE64" else {
                    throw .unknownKey(setting.key, in: "an identity", at: setting.place, known: ["SPKI-SHA256-BASE64"])
                }
                let key = try ForeignValues.key(setting.value.string(setting.key), at: setting.value.place)
                pins.append(key)
            }
            if identity.members?.isEmpty == true {
                throw .unusable("nothing-pinned", "an identity without a hash", at: identity.place)
            }
        }
        guard !pins.isEmpty else {
            throw .unusable(
                "nothing-pinned", "\(member.key) is empty, so iOS refuses every server", at: member.place,
                hint: "give it an identity, or take it out")
        }
        return pins
    }
}
