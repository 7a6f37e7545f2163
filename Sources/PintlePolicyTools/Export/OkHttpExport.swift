internal import Pintle

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
        return ["// Needs OkHttp 4.3 or later: older ones read **. and match no host with it."]
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
