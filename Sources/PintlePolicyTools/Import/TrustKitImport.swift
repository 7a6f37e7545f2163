internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile

/// A reader of TrustKit's configuration in a property list.
enum TrustKitImport {
    static func read(_ bytes: [UInt8]) throws(ToolError) -> ImportDraft {
        var draft = ImportDraft()
        let root = try PropertyListReader.root(bytes)
        let configuration = root["TSKConfiguration"] ?? root
        let domains = try domains(of: configuration, &draft)
        let members = try domains.dictionary("TSKPinnedDomains")
        for member in members { try add(member, to: &draft) }
        guard !members.isEmpty else {
            throw .unusable(
                "nothing-pinned", "TSKPinnedDomains is empty", at: domains.place,
                hint: "give it a domain with TSKPublicKeyHashes")
        }
        return draft
    }

    private static let globalKeys = [
        "TSKSwizzleNetworkDelegates", "TSKPinnedDomains", "TSKIgnorePinningForUserDefinedTrustAnchors",
    ]

    private static func domains(
        of configuration: Setting, _ draft: inout ImportDraft
    ) throws(ToolError) -> Setting {
        guard let domains = configuration["TSKPinnedDomains"] else {
            throw .unusable(
                "nothing-pinned", "no TSKConfiguration with TSKPinnedDomains", at: configuration.place,
                hint: "give the app's Info.plist")
        }
        for member in configuration.members ?? [] where !globalKeys.contains(member.key) {
            throw .unknownKey(member.key, in: "TSKConfiguration", at: member.place, known: globalKeys)
        }
        if let setting = configuration["TSKSwizzleNetworkDelegates"],
            try setting.boolean("TSKSwizzleNetworkDelegates")
        {
            draft.lose(
                .stacks, .other,
                "TSKSwizzleNetworkDelegates: only sessions that are made with the policy are pinned, not every one")
        }
        if let setting = configuration["TSKIgnorePinningForUserDefinedTrustAnchors"],
            try setting.boolean("TSKIgnorePinningForUserDefinedTrustAnchors")
        {
            draft.lose(.userAnchors, .stricter, "pins also apply to paths to roots that the user installed")
        }
        return domains
    }

    private static let keys = [
        "TSKIncludeSubdomains", "TSKEnforcePinning", "TSKPublicKeyHashes", "TSKExpirationDate", "TSKReportUris",
        "TSKDisableDefaultReportUri", "TSKPublicKeyAlgorithms", "TSKAdditionalTrustAnchors",
        "TSKExcludeSubdomainFromParentPolicy",
    ]

    private static func add(_ member: Setting.Member, to draft: inout ImportDraft) throws(ToolError) {
        var rule = PinnedHost(unchecked: try ForeignValues.host(member.key, ignoresCase: false, at: member.place))
        var isExcluded = false
        var reportsToMaker = true
        for setting in try member.value.dictionary(member.key) {
            let value = setting.value
            switch setting.key {
            case "TSKIncludeSubdomains": rule.includesSubdomains = try value.boolean(setting.key)
            case "TSKEnforcePinning": rule.enforcement = try value.boolean(setting.key) ? .enforce : .reportOnly
            case "TSKPublicKeyHashes":
                rule.pins = try ForeignValues.keys(value.strings(setting.key)).map { Pin(.publicKey($0)) }
            case "TSKExpirationDate":
                rule.expiry = .systemTrust(
                    after: try ForeignValues.day(value.string(setting.key), at: value.place))
            case "TSKReportUris": try addReports(value.strings(setting.key), &rule, &draft)
            case "TSKDisableDefaultReportUri": reportsToMaker = try !value.boolean(setting.key)
            // Without effect since release 1.6.
            case "TSKPublicKeyAlgorithms": _ = try value.array(setting.key)
            case "TSKAdditionalTrustAnchors":
                draft.lose(.debugOverrides, .other, "roots for debug builds are left out", rule.description)
            case "TSKExcludeSubdomainFromParentPolicy", "kSKExcludeSubdomainFromParentPolicy":
                isExcluded = try value.boolean(setting.key)
            default: throw .unknownKey(setting.key, in: member.key, at: setting.place, known: keys)
            }
        }
        guard isExcluded != !rule.pins.isEmpty else {
            let problem = isExcluded ? "is excluded and has pins" : "has no TSKPublicKeyHashes"
            throw .unusable("nothing-pinned", "\(member.key) \(problem)", at: member.place)
        }
        if reportsToMaker, !isExcluded {
            draft.lose(
                .reports, .other,
                "TrustKit reports to its maker unless TSKDisableDefaultReportUri is true: these reports are left out",
                rule.description)
        }
        draft.add(rule, at: member.place)
    }

    private static func addReports(
        _ texts: [(String, TextPlace)], _ rule: inout PinnedHost, _ draft: inout ImportDraft
    ) throws(ToolError) {
        for (text, place) in texts {
            if ServerEndpoint(httpsURL: text) != nil {
                rule.reportTo.append(text)
            } else if text.lowercased().hasPrefix("http://") {
                draft.lose(
                    .reports, .other, "reports go only to https addresses: others are left out", rule.description)
            } else {
                throw .unusable("invalid-report-url", "\"\(text)\" is not a URL for reports", at: place)
            }
        }
    }
}
