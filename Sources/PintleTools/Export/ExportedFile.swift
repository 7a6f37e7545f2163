internal import Pintle

/// A file of an export.
struct ExportedFile {
    /// The path relative to the folder that is exported to, with `/`.
    let name: String
    let content: String
}

/// The input of the writers beside the rules.
struct ExportSettings {
    var language: ForeignLanguage?
    /// Certificates in PEM that debug builds trust too, without pins.
    var debugRoots: [String] = []
    /// The time of writing in seconds since 1970, for formats that carry it.
    var writtenAt = 0
}

extension ExportPlan {
    /// Returns the files of the format: first the main file, then certificates.
    func files(_ settings: ExportSettings) -> [ExportedFile] {
        let language = settings.language ?? ForeignLanguage.choices(for: format).first
        return switch format {
        case .ats: [ATSExport.file(rules)]
        case .nsc: NSCExport.files(rules, debugRoots: settings.debugRoots)
        case .okhttp: [language == .java ? OkHttpExport.java(rules) : OkHttpExport.kotlin(rules)]
        case .trustkit: [language == .plist ? TrustKitExport.propertyList(rules) : TrustKitExport.swift(rules)]
        case .curl: CurlExport.files(rules)
        case .envoy: [EnvoyExport.file(rules)]
        case .chromium: ChromiumExport.files(rules, writtenAt: settings.writtenAt)
        }
    }
}

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

/// Android's network security configuration and the certificates it names.
enum NSCExport {
    static let path = "xml/network_security_config.xml"

    static func files(_ rules: [ExportRule], debugRoots: [String]) -> [ExportedFile] {
        var lines = [
            #"<?xml version="1.0" encoding="utf-8"?>"#, "<!-- \(ExportRemark.text) -->", "<network-security-config>",
        ]
        var certificates: [ExportedFile] = []
        for group in rules.grouped { append(group, to: &lines, &certificates) }
        if !debugRoots.isEmpty {
            lines += ["    <debug-overrides>", "        <trust-anchors>"]
            for (index, pem) in debugRoots.enumerated() {
                let name = "pintle_debug_\(index + 1)"
                lines.append("            <certificates src=\"@raw/\(name)\" />")
                certificates.append(ExportedFile(name: "raw/\(name).pem", content: pem))
            }
            lines += ["        </trust-anchors>", "    </debug-overrides>"]
        }
        lines += ["</network-security-config>", ""]
        return [ExportedFile(name: path, content: lines.joined(separator: "\n"))] + certificates
    }

    /// Returns a `domain-config`. Default values are written too, because defaults differ between versions of Android.
    private static func append(
        _ group: [ExportRule], to lines: inout [String], _ certificates: inout [ExportedFile]
    ) {
        guard let rule = group.first else { return }
        lines.append("    <domain-config cleartextTrafficPermitted=\"false\">")
        for rule in group {
            lines.append("        <domain includeSubdomains=\"\(rule.includesSubdomains)\">\(rule.host)</domain>")
        }
        lines.append("        <trust-anchors>")
        if rule.anchors.includesSystem { lines.append("            <certificates src=\"system\" />") }
        for anchor in rule.anchors.certificates {
            let name = "pintle_root_\(anchor.fingerprint.description.prefix(16))"
            lines.append("            <certificates src=\"@raw/\(name)\" />")
            let file = "raw/\(name).pem"
            if !certificates.contains(where: { $0.name == file }) {
                certificates.append(
                    ExportedFile(name: file, content: PEMBlock.text(label: "CERTIFICATE", bytes: anchor.der)))
            }
        }
        lines.append("        </trust-anchors>")
        if rule.isPinned {
            let expiration = rule.expiryDay.map { " expiration=\"\($0)\"" } ?? ""
            lines.append("        <pin-set\(expiration)>")
            for key in rule.keys { lines.append("            <pin digest=\"SHA-256\">\(key.base64)</pin>") }
            lines.append("        </pin-set>")
        }
        lines.append("    </domain-config>")
    }
}

/// A `CertificatePinner` in Kotlin or Java.
enum OkHttpExport {
    static func kotlin(_ rules: [ExportRule]) -> ExportedFile {
        var lines = ["// \(ExportRemark.text)"] + versionRemark(rules)
        lines += ["import okhttp3.CertificatePinner", "", "val certificatePinner: CertificatePinner ="]
        lines.append("    CertificatePinner.Builder()")
        for rule in rules { lines += calls(rule, indent: "        ", comma: true) }
        lines += ["        .build()", ""]
        return ExportedFile(name: "CertificatePins.kt", content: lines.joined(separator: "\n"))
    }

    static func java(_ rules: [ExportRule]) -> ExportedFile {
        var lines = ["// \(ExportRemark.text)"] + versionRemark(rules)
        lines += ["import okhttp3.CertificatePinner;", "", "final class CertificatePins {"]
        lines.append("    static final CertificatePinner CERTIFICATE_PINNER = new CertificatePinner.Builder()")
        for rule in rules { lines += calls(rule, indent: "            ", comma: false) }
        lines += ["            .build();", "", "    private CertificatePins() {}", "}", ""]
        return ExportedFile(name: "CertificatePins.java", content: lines.joined(separator: "\n"))
    }

    private static func versionRemark(_ rules: [ExportRule]) -> [String] {
        guard rules.contains(where: \.includesSubdomains) else { return [] }
        return ["// Needs OkHttp 4 or later: OkHttp 3 reads **. and matches no host with it."]
    }

    /// - Parameter comma: a Boolean value that indicates whether the language allows a comma after the last argument.
    private static func calls(_ rule: ExportRule, indent: String, comma: Bool) -> [String] {
        let pattern = rule.includesSubdomains ? "**.\(rule.host)" : rule.host.description
        let keys = rule.keys
        var lines = ["\(indent).add(", "\(indent)    \"\(pattern)\","]
        for (index, key) in keys.enumerated() {
            lines.append("\(indent)    \"\(key)\"" + (comma || index < keys.count - 1 ? "," : ""))
        }
        return lines + ["\(indent))"]
    }
}

/// A curl command for each host.
enum CurlExport {
    static func files(_ rules: [ExportRule]) -> [ExportedFile] {
        var lines = ["# \(ExportRemark.text)"]
        var bundles: [ExportedFile] = []
        for rule in rules {
            var words = ["curl"]
            if rule.isPinned {
                words.append("--pinnedpubkey '\(rule.keys.map { "sha256//\($0.base64)" }.joined(separator: ";"))'")
            }
            if !rule.anchors.includesSystem {
                let all = CertificatePin(certificate: rule.anchors.certificates.flatMap(\.der))
                let name = "roots-\(all.description.prefix(16)).pem"
                words.append("--cacert \(name)")
                if !bundles.contains(where: { $0.name == name }) {
                    let pem = rule.anchors.certificates.map { PEMBlock.text(label: "CERTIFICATE", bytes: $0.der) }
                    bundles.append(ExportedFile(name: name, content: pem.joined()))
                }
            }
            // curl takes brackets for patterns.
            let isPattern = rule.urlHost.hasPrefix("[")
            let url = "https://\(rule.urlHost)\(rule.port.map { ":\($0)" } ?? "")/"
            words.append(isPattern ? "--globoff '\(url)'" : url)
            lines.append(words.joined(separator: " "))
        }
        return [ExportedFile(name: "pinned.sh", content: lines.joined(separator: "\n") + "\n")] + bundles
    }
}

/// The static pin list: hosts and pin sets, and the file that gives each key a name.
enum ChromiumExport {
    static let list = "transport_security_state_static_pins.json"
    static let keys = "transport_security_state_static.pins"

    static func files(_ rules: [ExportRule], writtenAt: Int) -> [ExportedFile] {
        var names: [PublicKeyPin: String] = [:]
        var order: [PublicKeyPin] = []
        for key in rules.flatMap(\.keys) where names[key] == nil {
            order.append(key)
            names[key] = "Key\(order.count)"
        }
        let groups = rules.grouped
        var json = JSONWriter(.pretty)
        json.object { json in
            json.array("pinsets") { json in
                for (index, group) in groups.enumerated() {
                    guard let rule = group.first else { continue }
                    json.object { json in
                        json.member("name", "set\(index + 1)")
                        json.member("static_spki_hashes", rule.keys.compactMap { names[$0] })
                        json.member("report_uri", rule.reportTo.first)
                    }
                }
            }
            json.array("entries") { json in
                for (index, group) in groups.enumerated() {
                    for rule in group {
                        json.object { json in
                            json.member("name", rule.host.description)
                            if rule.includesSubdomains { json.member("include_subdomains", true) }
                            json.member("pins", "set\(index + 1)")
                        }
                    }
                }
            }
        }
        var lines = ["# \(ExportRemark.text)", "", "PinsListTimestamp", "\(writtenAt)"]
        for key in order { lines += ["", names[key] ?? "", key.description] }
        return [
            ExportedFile(name: list, content: "// \(ExportRemark.text)\n\(json.text)\n"),
            ExportedFile(name: keys, content: lines.joined(separator: "\n") + "\n"),
        ]
    }
}
