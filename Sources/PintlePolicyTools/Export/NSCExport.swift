internal import Pintle

/// Android's network security configuration and the certificates it names.
enum NSCExport {
    static let path = "xml/network_security_config.xml"
    static let rootPrefix = "pintle_root_"

    /// Returns the name of a private root in `@raw/`.
    static func name(ofRoot root: Certificate) -> String {
        rootPrefix + root.fingerprint.description.prefix(16)
    }

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
            let name = name(ofRoot: anchor)
            lines.append("            <certificates src=\"@raw/\(name)\" />")
            let file = "raw/\(name).pem"
            if !certificates.contains(where: { $0.name == file }) {
                certificates.append(ExportedFile(name: file, content: anchor.pem))
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
