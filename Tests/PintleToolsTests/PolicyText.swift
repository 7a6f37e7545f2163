import PintleTestKit

/// Parts of policy files for the tests of lint.
enum PolicyText {
    static let pin = "sha256/A8TCX7QwhUNNciJ36Kmblh8BT/thLPF32Jqw/YefkyY="
    static let backup = "sha256/CMCAWSJQH5nAQbZU5sp+cbvgr4HxFLmfG7t4cMa13XM="
    static let third = "sha256/iQhb885ViYmzwhaN8HXndRaUrXpOBHfKAvqhDM3XTDI="

    /// Returns a policy with these rules, each a JSON object.
    static func policy(_ rules: String..., top: String = "") -> String {
        "{\"version\": 1, \(top)\"hosts\": [\(rules.joined(separator: ",\n"))]}"
    }

    /// Returns a sound rule with these members added.
    static func rule(_ host: String = "example.com", _ more: String = "") -> String {
        let comma = more.isEmpty ? "" : ", "
        return "{\"host\": \"\(host)\", \"pins\": [\"\(pin)\"], \"backupPins\": [\"\(backup)\"]\(comma)\(more)}"
    }

    /// Returns a root in PEM that ends with the first second of that year.
    static func anchor(until year: Int = 2046) throws -> String {
        try CertificateAuthority.root {
            $0.notBefore = .generalizedTime("20200101000000Z")
            $0.notAfter = .generalizedTime("\(year)0101000000Z")
        }.certificate.pem
    }
}
