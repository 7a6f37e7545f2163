internal import Pintle

/// `NSAppTransportSecurity` with `NSPinnedDomains`, to be merged into an app's Info.plist.
enum ATSExport {
    static func file(_ rules: [ExportRule]) -> ExportedFile {
        let domains = rules.map { (key: $0.host.description, value: domain($0)) }
        let list = PropertyListItem.dictionary([
            ("NSAppTransportSecurity", .dictionary([("NSPinnedDomains", .dictionary(domains))]))
        ])
        return ExportedFile(name: "Info.plist", content: list.document(comment: ExportRemark.text))
    }

    private static func domain(_ rule: ExportRule) -> PropertyListItem {
        var members: [(key: String, value: PropertyListItem)] = []
        if rule.includesSubdomains { members.append(("NSIncludesSubdomains", .boolean(true))) }
        let authorities = rule.keys(at: .ca)
        let leaves = rule.keys(at: .leaf)
        if !authorities.isEmpty { members.append(("NSPinnedCAIdentities", identities(authorities))) }
        if !leaves.isEmpty { members.append(("NSPinnedLeafIdentities", identities(leaves))) }
        return .dictionary(members)
    }

    private static func identities(_ keys: [PublicKeyPin]) -> PropertyListItem {
        .array(keys.map { .dictionary([("SPKI-SHA256-BASE64", .string($0.base64))]) })
    }
}
