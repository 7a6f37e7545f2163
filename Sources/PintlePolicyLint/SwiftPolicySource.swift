package import Pintle
internal import PintleSystem

/// The Swift source of a policy: the initializers of rules, as a person would write them.
///
/// An app that compiles it needs no file at run time, and no reader of JSON. The source makes a policy with the same
/// rules, in the same order. What has no effect in an app's own policy is left out: notes, and the `withdraws` of
/// updates.
package struct SwiftPolicySource {
    private let policy: PinningPolicy
    /// The names of the constants with anchors, by the anchors' identity.
    private var anchorNames: [ObjectIdentifier: String] = [:]
    private var anchors: [(name: String, value: TrustAnchors)] = []

    package init(_ policy: PinningPolicy) {
        self.policy = policy
        for host in policy.hosts where !host.anchors.certificates.isEmpty {
            let identity = ObjectIdentifier(host.anchors.identity)
            guard anchorNames[identity] == nil else { continue }
            let name = "anchors\(anchors.count + 1)"
            anchorNames[identity] = name
            anchors.append((name, host.anchors))
        }
    }

    /// Returns a file with the property `PinningPolicy.bundled`, UTF-8.
    ///
    /// - Parameter file: the name of the policy's file, for people.
    package func file(madeFrom file: String) -> String {
        let hasDates = policy.hosts.contains { $0.expiry.date != nil }
        var lines = ["// Made from \(Self.comment(file)) by PintlePolicyCheck. Change that file, not this one."]
        if hasDates {
            lines += [
                "#if canImport(FoundationEssentials)", "import FoundationEssentials", "#else", "import Foundation",
                "#endif",
            ]
        }
        lines += [
            "import Pintle",
            "",
            "extension PinningPolicy {",
            "    /// The policy of \(Self.comment(file)), as it was when this was built.",
            "    ///",
            "    /// The build has checked the file, so nothing is thrown here.",
            "    nonisolated static var bundled: PinningPolicy {",
            "        get throws { try bundledResult.get() }",
            "    }",
            "",
            "    nonisolated private static let bundledResult = Result { try makeBundled() }",
            "",
            "    nonisolated private static func makeBundled() throws -> PinningPolicy {",
        ]
        for (name, value) in anchors { lines += Self.constant(name, value) }
        lines.append("        \(policy.hosts.isEmpty ? "let" : "var") hosts: [PinnedHost] = []")
        for host in policy.hosts { lines += rule(host) }
        lines += ["        return try PinningPolicy(", "            hosts: hosts\(policyOptions))", "    }", "}"]
        return lines.joined(separator: "\n") + "\n"
    }

    private var policyOptions: String {
        var options = ""
        if policy.unpinnedHosts != .systemTrust { options += ", unpinnedHosts: .\(policy.unpinnedHosts.rawValue)" }
        if policy.updateVersion != 0 { options += ", updateVersion: \(policy.updateVersion)" }
        if policy.allowsUpdatesForAnyHost { options += ", allowsUpdatesForAnyHost: true" }
        return options
    }

    private static func constant(_ name: String, _ anchors: TrustAnchors) -> [String] {
        let pem = anchors.certificates.flatMap { $0.pem.split(separator: "\n") }.map { "                \($0)" }
        return [
            "        let \(name) = TrustAnchors(", "            try CertificateBundle(", "                pem: \"\"\"",
        ] + pem + ["                \"\"\"),", "            includesSystem: \(anchors.includesSystem))"]
    }

    private func rule(_ host: PinnedHost) -> [String] {
        var arguments = [Self.literal(host.host.description)]
        if let port = host.port { arguments.append("port: \(port)") }
        if host.includesSubdomains { arguments.append("includingSubdomains: true") }
        // The rule of a file without pins may have anchors or none.
        arguments.append("pins: \(Self.list(host.pins))")
        if !host.backupPins.isEmpty { arguments.append("backupPins: \(Self.list(host.backupPins))") }
        if host.backupRequirement == .noneAccepted { arguments.append("backup: .noneAccepted") }
        if host.requires != .anyPin { arguments.append("requires: .\(host.requires.rawValue)") }
        switch host.expiry {
        case .never: break
        case .systemTrust(let date): arguments.append("expiry: .systemTrust(after: \(Self.literal(date)))")
        case .rejecting(let date): arguments.append("expiry: .rejecting(after: \(Self.literal(date)))")
        }
        if host.enforcement != .enforce { arguments.append("enforcement: .\(host.enforcement.rawValue)") }
        if let name = anchorNames[ObjectIdentifier(host.anchors.identity)] { arguments.append("anchors: \(name)") }
        if let length = host.minimumPathLength { arguments.append("minimumPathLength: \(length)") }
        if let key = host.issuerKey { arguments.append("issuerKey: \(Self.literal(key.description))") }
        if !host.reportTo.isEmpty {
            arguments.append("reportTo: [\(host.reportTo.map(Self.literal).joined(separator: ", "))]")
        }
        return ["        hosts.append(", "            try PinnedHost("]
            + arguments.enumerated().map { index, text in
                "                \(text)\(index == arguments.count - 1 ? "))" : ",")"
            }
    }

    private static func list(_ pins: [Pin]) -> String {
        let elements = pins.map { pin in
            let position = pin.position == .any ? "" : ", at: .\(pin.position.rawValue)"
            return switch pin.subject {
            case .publicKey(let key) where position.isEmpty: literal(key.description)
            case .publicKey(let key): "try .publicKey(\(literal(key.description))\(position))"
            case .certificate(let pin): "try .certificate(\(literal(pin.description))\(position))"
            }
        }
        guard elements.count > 1 else { return "[\(elements.joined())]" }
        return "[\n" + elements.map { "                    \($0)" }.joined(separator: ",\n") + "\n                ]"
    }

    private static func literal(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970
        let number = Int64(exactly: seconds).map(String.init) ?? "\(seconds)"
        return "Date(timeIntervalSince1970: \(number)) /* \(RFC3339.string(from: date)) */"
    }

    /// Returns a string literal in which nothing of the text can end it.
    private static func literal(_ text: String) -> String {
        var literal = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case " "..."~": literal.unicodeScalars.append(scalar)
            default: literal += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return literal + "\""
    }

    /// Returns a text for a comment of one line.
    private static func comment(_ text: String) -> String {
        String(text.map { $0.isNewline ? "?" : $0 })
    }
}
