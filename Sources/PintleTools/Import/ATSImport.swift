internal import Pintle

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
        for member in try domains.dictionary("NSPinnedDomains") { try add(member, to: &draft) }
        for member in settings.members ?? [] { try lose(member, from: &draft) }
        return draft
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

    private static let keys = ["NSIncludesSubdomains", "NSPinnedCAIdentities", "NSPinnedLeafIdentities"]

    private static func add(_ member: Setting.Member, to draft: inout ImportDraft) throws(ToolError) {
        var rule = PinnedHost(unchecked: try ForeignValues.host(member.key, at: member.place))
        for setting in try member.value.dictionary(member.key) {
            switch setting.key {
            case "NSIncludesSubdomains": rule.includesSubdomains = try setting.value.boolean(setting.key)
            case "NSPinnedCAIdentities": rule.pins += try pins(setting, at: .ca)
            case "NSPinnedLeafIdentities": rule.pins += try pins(setting, at: .leaf)
            default: throw .unknownKey(setting.key, in: member.key, at: setting.place, known: keys)
            }
        }
        guard !rule.pins.isEmpty else {
            throw .unusable(
                "nothing-pinned", "\(member.key) has neither CA nor leaf identities", at: member.place,
                hint: "App Transport Security wants one of them")
        }
        if Set(rule.pins.map(\.position)).count > 1 { rule.requires = .leafAndCA }
        if rule.includesSubdomains {
            draft.lose(
                .subdomains, .stricter, "sub-domains of every depth are pinned, not only those of one label",
                rule.description
            )
        }
        draft.add(rule, at: member.place)
    }

    private static func pins(_ member: Setting.Member, at position: PinPosition) throws(ToolError) -> [Pin] {
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
                throw .unusable("nothing-pinned", "an identity without a hash", at: identity.place)
            }
        }
        guard !pins.isEmpty else {
            throw .unusable("nothing-pinned", "\(member.key) is empty", at: member.place)
        }
        return pins
    }
}
