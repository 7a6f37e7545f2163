internal import Pintle

/// TrustKit's configuration, in Swift or as a property list.
enum TrustKitExport {
    /// The setting's constant in Swift, and the string it stands for.
    private struct Key {
        let constant: String
        let text: String

        init(_ name: String, text: String? = nil) {
            constant = "k\(name)"
            self.text = text ?? name
        }

        static let swizzle = Key("TSKSwizzleNetworkDelegates")
        static let domains = Key("TSKPinnedDomains")
        /// On macOS its default exempts paths to locally installed roots from the pins. iOS has no constant.
        static let ignoreInstalled = "TSKIgnorePinningForUserDefinedTrustAnchors"
        static let subdomains = Key("TSKIncludeSubdomains")
        static let enforce = Key("TSKEnforcePinning")
        static let hashes = Key("TSKPublicKeyHashes")
        static let expiration = Key("TSKExpirationDate")
        static let reports = Key("TSKReportUris")
        static let noDefaultReport = Key("TSKDisableDefaultReportUri")
        // This is the library's spelling.
        static let exclude = Key("TSKExcludeSubdomainFromParentPolicy", text: "kSKExcludeSubdomainFromParentPolicy")
    }

    private static func settings(_ rule: ExportRule) -> [(key: Key, value: PropertyListItem)] {
        guard rule.isPinned else { return [(.exclude, .boolean(true))] }
        let isShort = rule.enforcement == .enforce && rule.keys.count < 2
        let keys = isShort ? rule.keys + [.ofNoKey] : rule.keys
        var settings: [(key: Key, value: PropertyListItem)] = [
            (.subdomains, .boolean(rule.includesSubdomains)), (.enforce, .boolean(rule.enforcement == .enforce)),
            (.hashes, .array(keys.map { .string($0.base64) })),
        ]
        if let day = rule.expiryDay { settings.append((.expiration, .string(day))) }
        if !rule.reportTo.isEmpty { settings.append((.reports, .array(rule.reportTo.map { .string($0) }))) }
        // Otherwise reports go to the library's maker.
        settings.append((.noDefaultReport, .boolean(true)))
        return settings
    }

    static func propertyList(_ rules: [ExportRule]) -> ExportedFile {
        let domains = rules.map { rule in
            (key: rule.host.description, value: PropertyListItem.dictionary(settings(rule).map { ($0.text, $1) }))
        }
        let list = PropertyListItem.dictionary([
            (
                "TSKConfiguration",
                .dictionary([
                    (Key.swizzle.text, .boolean(false)), (Key.ignoreInstalled, .boolean(false)),
                    (Key.domains.text, .dictionary(domains)),
                ])
            )
        ])
        return ExportedFile(name: "Info.plist", content: list.document(comment: ExportRemark.text))
    }

    static func swift(_ rules: [ExportRule]) -> ExportedFile {
        var lines = ["// \(ExportRemark.text)", "import TrustKit", ""]
        lines.append("let trustKitConfiguration: [String: Any] = [")
        lines.append("    \(Key.swizzle.constant): false,")
        lines.append("    \"\(Key.ignoreInstalled)\": false,")
        lines.append("    \(Key.domains.constant): [")
        for rule in rules {
            lines.append("        \"\(rule.host)\": [")
            for (key, value) in settings(rule) {
                switch value {
                case .boolean(let boolean): lines.append("            \(key.constant): \(boolean),")
                case .string(let text): lines.append("            \(key.constant): \(literal(text)),")
                case .array(let items):
                    lines.append("            \(key.constant): [")
                    for case .string(let text) in items { lines.append("                \(literal(text)),") }
                    lines.append("            ],")
                case .dictionary: break
                }
            }
            lines.append("        ] as [String: Any],")
        }
        if rules.isEmpty { lines.append("        :") }
        lines += ["    ] as [String: [String: Any]],", "]", ""]
        return ExportedFile(name: "TrustKitConfiguration.swift", content: lines.joined(separator: "\n"))
    }

    private static func literal(_ text: String) -> String {
        var safe = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\\" || scalar == "\"" {
                safe += "\\\(scalar)"
            } else if scalar.isASCII, scalar.value >= 0x20, scalar.value != 0x7F {
                safe.unicodeScalars.append(scalar)
            } else {
                safe += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return safe + "\""
    }
}
