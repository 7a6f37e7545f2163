internal import Pintle

/// A reader of `NSPinnedDomains`: in an Info.plist, in an `NSAppTransportSecurity` dictionary, or by itself.
enum ATSImport {
    static func read(_ bytes: [UInt8]) throws(ForeignError) -> ImportDraft {
        let root = try PropertyListReader.root(bytes)
        // The other keys of an Info.plist have nothing to do with pins.
        guard let domains = (root["NSAppTransportSecurity"] ?? root)["NSPinnedDomains"] else {
            throw ForeignError(
                "nothing-pinned", "no NSAppTransportSecurity with NSPinnedDomains", at: root.place,
                hint: "give the app's Info.plist")
        }
        var draft = ImportDraft()
        for member in try domains.dictionary("NSPinnedDomains") { try add(member, to: &draft) }
        return draft
    }

    private static let keys = ["NSIncludesSubdomains", "NSPinnedCAIdentities", "NSPinnedLeafIdentities"]

    private static func add(_ member: Setting.Member, to draft: inout ImportDraft) throws(ForeignError) {
        var rule = ImportDraft.Rule(try ForeignValues.host(member.key, at: member.place))
        for setting in try member.value.dictionary(member.key) {
            switch setting.key {
            case "NSIncludesSubdomains": rule.includesSubdomains = try setting.value.boolean(setting.key)
            case "NSPinnedCAIdentities": rule.terms.pins += try pins(setting, at: .ca)
            case "NSPinnedLeafIdentities": rule.terms.pins += try pins(setting, at: .leaf)
            default: throw .unknownKey(setting.key, in: member.key, at: setting.place, known: keys)
            }
        }
        guard !rule.terms.pins.isEmpty else {
            throw ForeignError(
                "nothing-pinned", "\(member.key) has neither CA nor leaf identities", at: member.place,
                hint: "App Transport Security wants one of them")
        }
        if Set(rule.terms.pins.map(\.position)).count > 1 { rule.terms.requires = .leafAndCA }
        if rule.includesSubdomains {
            draft.lose(
                .subdomains, .stricter, "sub-domains of every depth are pinned, not only those of one label", rule.name
            )
        }
        draft.add(rule, at: member.place)
    }

    private static func pins(_ member: Setting.Member, at position: PinPosition) throws(ForeignError) -> [Pin] {
        var pins: [Pin] = []
        for identity in try member.value.array(member.key) {
            for setting in try identity.dictionary("an identity") {
                guard setting.key == "SPKI-SHA256-BASE64" else {
                    throw .unknownKey(setting.key, in: "an identity", at: setting.place, known: ["SPKI-SHA256-BASE64"])
                }
                let key = try ForeignValues.key(setting.value.string(setting.key), at: setting.value.place)
                pins.append(Pin(.publicKey(key), at: position))
            }
            if identity.members?.isEmpty == true {
                throw ForeignError("nothing-pinned", "an identity without a hash", at: identity.place)
            }
        }
        guard !pins.isEmpty else {
            throw ForeignError("nothing-pinned", "\(member.key) is empty", at: member.place)
        }
        return pins
    }
}
