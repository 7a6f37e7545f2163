internal import Pintle

/// A curl command for each host.
enum CurlExport {
    static func files(_ rules: [ExportRule]) -> [ExportedFile] {
        var lines = ["# \(ExportRemark.text)"]
        var bundles: [ExportedFile] = []
        for rule in rules {
            var words = ["curl"]
            if rule.isPinned {
                words.append("--pinnedpubkey '\(rule.keys.map(\.curl).joined(separator: ";"))'")
            }
            if !rule.anchors.includesSystem {
                let all = CertificatePin(certificate: rule.anchors.certificates.flatMap(\.der))
                let name = "roots-\(all.description.prefix(16)).pem"
                words.append("--cacert \(name)")
                if !bundles.contains(where: { $0.name == name }) {
                    let pem = rule.anchors.certificates.map(\.pem)
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
