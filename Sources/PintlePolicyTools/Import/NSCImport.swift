internal import Pintle
internal import PintleConsole
internal import PintlePolicyFile
internal import PintleText

/// A reader of Android's network security configuration.
struct NSCImport {
    /// The folder `res`, in which `@raw/` names certificates.
    private let resources: ForeignFolder
    private var draft = ImportDraft()

    static func read(_ bytes: [UInt8], resources: ForeignFolder) throws(ToolError) -> ImportDraft {
        let root = try XMLDocument.root(bytes)
        guard root.name == "network-security-config" else {
            throw .unusable("not-nsc", "the root is <\(root.name)>, not <network-security-config>", at: root.place)
        }
        var reader = NSCImport(resources: resources)
        try reader.check(root, attributes: [], children: ["base-config", "domain-config", "debug-overrides"])
        var defaults = Terms(anchors: .system)
        // The defaults also apply to the elements before them.
        if let base = try reader.only("base-config", in: root) { try reader.readBase(base, &defaults) }
        for child in root.children {
            switch child.name {
            case "domain-config": try reader.read(child, defaults)
            case "debug-overrides":
                reader.draft.lose(.debugOverrides, .other, "the additional roots of debug builds are left out")
            default: break
            }
        }
        return reader.draft
    }

    /// The values of a configuration, its own or inherited.
    private struct Terms {
        var anchors: TrustAnchors
        var pins: [PublicKeyPin] = []
        var expiry = PinExpiry.never
        /// A Boolean value that indicates whether paths to some of the anchors are exempt from the pins.
        var overridesPins = false
        /// The settings of a domain-config and of those around it, which its domains lose. Of base-config it has only
        /// the user's roots.
        var settings = Settings()
    }

    /// Settings that a policy cannot have. The values are those of the innermost element that has them.
    private struct Settings {
        var permitsCleartext: Bool?
        var enforcesHSTS: Bool?
        var wantsTransparency: Bool?
        var encryption: String?
        var trustsUser: Bool?
    }

    /// - Throws: an error for an element that is not known. Android ignores it, but here it might be a restriction that
    ///   gets lost.
    private func check(_ element: XMLElement, attributes: [String], children: [String]) throws(ToolError) {
        for (name, _) in element.attributes
        where !attributes.contains(name) && !name.hasPrefix("xmlns") && !name.hasPrefix("tools:") {
            throw .unknownKey(name, in: "<\(element.name)>", at: element.place, known: attributes)
        }
        for child in element.children where !children.contains(child.name) {
            throw .unusable(
                "unknown-element", "<\(child.name)> in <\(element.name)> is not known", at: child.place,
                hint: "an unknown setting may restrict the pins: take it out, or write the policy by hand")
        }
        guard element.children.isEmpty || element.hasNoText else {
            throw .unusable("unexpected-text", "text beside the elements of <\(element.name)>", at: element.place)
        }
    }

    private static let attributes = ["cleartextTrafficPermitted", "hstsEnforced"]
    private static let common = ["trust-anchors", "certificateTransparency", "domainEncryption"]

    private mutating func readBase(_ element: XMLElement, _ defaults: inout Terms) throws(ToolError) {
        try check(element, attributes: Self.attributes, children: Self.common)
        for name in Self.attributes where try Self.boolean(name, of: element) == (name == "hstsEnforced") {
            draft.lose(.httpsOnly, .weaker, "\(name) in base-config: plain http is refused only to hosts with a rule")
        }
        try readCommon(element, &defaults)
        lose(defaults.settings, nil)
        // Hosts that inherit these roots lose those of the user too. The other settings are named once.
        defaults.settings = Settings(trustsUser: defaults.settings.trustsUser)
        if !defaults.anchors.includesSystem {
            draft.lose(.validation, .weaker, "base-config: hosts without a rule are left to the system's roots")
        }
        if !defaults.anchors.certificates.isEmpty {
            draft.lose(.validation, .stricter, "base-config: its own roots do not count for hosts without a rule")
        }
    }

    private mutating func read(_ element: XMLElement, _ inherited: Terms) throws(ToolError) {
        try check(
            element, attributes: Self.attributes,
            children: Self.common + ["domain", "pin-set", "domain-config", "trustkit-config"])
        let domains = element.children.filter { $0.name == "domain" }
        guard !domains.isEmpty else {
            throw .unusable("no-domain", "a domain-config without a domain", at: element.place)
        }
        var terms = inherited
        try readCommon(element, &terms)
        try readPinSet(element, &terms)
        let trustKit = try only("trustkit-config", in: element)
        for domain in domains {
            try check(domain, attributes: ["includeSubdomains"], children: [])
            var rule = PinnedHost(unchecked: try hostName(of: domain))
            rule.includesSubdomains = try Self.boolean("includeSubdomains", of: domain) ?? false
            if rule.host.ipAddress != nil { rule.includesSubdomains = false }
            rule.anchors = terms.anchors
            rule.pins = terms.pins.map { Pin(.publicKey($0)) }
            rule.expiry = terms.pins.isEmpty ? .never : terms.expiry
            if rule.expiry != .never {
                draft.lose(
                    .expiryTime, .other, "pins end at midnight in UTC, not in the device's time zone", rule.description)
            }
            let host = rule.description
            lose(terms.settings, host)
            if terms.overridesPins, !rule.pins.isEmpty {
                draft.lose(
                    .overridePins, .stricter, "pins also apply to paths to these anchors, which overridePins exempts",
                    host)
            }
            if let trustKit { try loseTrustKit(trustKit, host) }
            draft.add(rule, at: domain.place)
        }
        for child in element.children where child.name == "domain-config" { try read(child, terms) }
    }

    private func hostName(of domain: XMLElement) throws(ToolError) -> ServerName {
        try ForeignValues.host(domain.text.trimmed, at: domain.place)
    }

    /// Reads a value as aapt2 does, which compiles an app's resources.
    private static func boolean(_ name: String, of element: XMLElement) throws(ToolError) -> Bool? {
        switch element.attribute(name) {
        case nil: return nil
        case "true", "True", "TRUE": return true
        case "false", "False", "FALSE": return false
        case let text?:
            throw .unusable("wrong-type", "\(name) is \"\(text)\", not true or false", at: element.place)
        }
    }

    private func readCommon(_ element: XMLElement, _ terms: inout Terms) throws(ToolError) {
        if let value = try Self.boolean("cleartextTrafficPermitted", of: element) {
            terms.settings.permitsCleartext = value
        }
        if let value = try Self.boolean("hstsEnforced", of: element) { terms.settings.enforcesHSTS = value }
        if let anchors = try only("trust-anchors", in: element) { try readAnchors(anchors, &terms) }
        if let transparency = try only("certificateTransparency", in: element) {
            try check(transparency, attributes: ["enabled"], children: [])
            terms.settings.wantsTransparency = try Self.boolean("enabled", of: transparency) ?? true
        }
        if let encryption = try only("domainEncryption", in: element) {
            try check(encryption, attributes: ["mode"], children: [])
            terms.settings.encryption = encryption.attribute("mode") ?? ""
        }
    }

    /// Names the settings that a host loses; `nil` for the hosts without a rule.
    private mutating func lose(_ settings: Settings, _ host: String?) {
        if settings.permitsCleartext == true {
            draft.lose(.cleartext, .stricter, "plain http to hosts with pins is refused, not permitted", host)
        }
        if settings.enforcesHSTS == true, let host {
            draft.lose(.httpsOnly, .other, "hstsEnforced: plain http to hosts with a rule is refused anyway", host)
        }
        if settings.trustsUser == true {
            draft.lose(.userAnchors, .stricter, "roots that the user installed are not named", host)
        }
        if settings.wantsTransparency == true {
            draft.lose(.certificateTransparency, .weaker, "certificate transparency is not asked for", host)
        }
        if let mode = settings.encryption, mode != "disabled" {
            // Only this mode refuses servers: those for which DNS has no keys.
            let effect: PolicyLoss.Effect = mode == "required" ? .weaker : .other
            draft.lose(
                .tlsSettings, effect, "domainEncryption: a policy has no settings of Encrypted Client Hello", host)
        }
    }

    /// Names the element with which TrustKit-Android extends the file. Android ignores it.
    private mutating func loseTrustKit(_ settings: XMLElement, _ host: String) throws(ToolError) {
        try check(settings, attributes: ["enforcePinning", "disableDefaultReportUri"], children: ["report-uri"])
        draft.lose(.reports, .other, "trustkit-config is for TrustKit-Android: its reports are left out", host)
        if try Self.boolean("enforcePinning", of: settings) != true {
            draft.lose(
                .reportOnly, .stricter,
                "trustkit-config is for TrustKit-Android, which only reports without enforcePinning: pins are enforced",
                host)
        }
        _ = try Self.boolean("disableDefaultReportUri", of: settings)
    }

    /// Returns the child of that name.
    ///
    /// - Throws: an error if there are two.
    private func only(_ name: String, in element: XMLElement) throws(ToolError) -> XMLElement? {
        let found = element.children.filter { $0.name == name }
        if found.count > 1 {
            throw .unusable("duplicate-key", "<\(name)> is there twice", at: found[1].place, hint: "join the two")
        }
        return found.first
    }

    private func readPinSet(_ element: XMLElement, _ terms: inout Terms) throws(ToolError) {
        guard let set = try only("pin-set", in: element) else { return }
        try check(set, attributes: ["expiration"], children: ["pin"])
        guard !set.children.isEmpty else {
            // An inner domain-config without a pin-set inherits the outer one.
            let remedy = "give the domains a domain-config outside of this one, without a pin-set"
            throw .unusable(
                "nothing-pinned", "a pin-set without pins", at: set.place,
                hint: terms.pins.isEmpty ? "leave it out if nothing is pinned" : "if nothing is pinned, \(remedy)")
        }
        var texts: [(String, TextPlace)] = []
        for pin in set.children {
            try check(pin, attributes: ["digest"], children: [])
            guard pin.attribute("digest")?.uppercased() == "SHA-256" else {
                throw .unusable(
                    "unsupported-hash", "the digest is \(pin.attribute("digest") ?? "missing"), not SHA-256",
                    at: pin.place)
            }
            texts.append((pin.text.trimmed, pin.place))
        }
        terms.pins = try ForeignValues.keys(texts)
        guard !terms.pins.isEmpty else {
            throw .unusable("nothing-pinned", "a pin-set that has only the placeholder pin", at: set.place)
        }
        terms.expiry = .never
        if let text = set.attribute("expiration") {
            terms.expiry = .systemTrust(after: try ForeignValues.day(text, at: set.place))
        }
    }

    // MARK: Anchors

    private func readAnchors(_ element: XMLElement, _ terms: inout Terms) throws(ToolError) {
        try check(element, attributes: [], children: ["certificates"])
        terms.overridesPins = false
        terms.settings.trustsUser = false
        var includesSystem = false
        var certificates: [Certificate] = []
        for child in element.children {
            try check(child, attributes: ["src", "overridePins"], children: [])
            if try Self.boolean("overridePins", of: child) == true { terms.overridesPins = true }
            switch child.attribute("src") {
            case "system": includesSystem = true
            case "user": terms.settings.trustsUser = true
            case let source?: certificates += try resource(source, at: child.place)
            case nil: throw .unusable("missing-key", "<certificates> without src", at: child.place)
            }
        }
        guard includesSystem || !certificates.isEmpty else {
            throw .unusable(
                "no-anchors", "no roots are left that a policy can name", at: element.place,
                hint: "name system, or certificates in @raw")
        }
        terms.anchors = TrustAnchors(certificates, includesSystem: includesSystem)
    }

    private static let extensions = ["pem", "crt", "cer", "der", "cert"]

    private func resource(_ source: String, at place: TextPlace) throws(ToolError) -> [Certificate] {
        let name = source.dropFirst("@raw/".count)
        let isName = name.utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || byte == UInt8(ascii: "_")
        }
        guard source.hasPrefix("@raw/"), !name.isEmpty, isName else {
            throw .unusable("unknown-value", "\"\(source)\" is not system, user or @raw/NAME", at: place)
        }
        for suffix in Self.extensions {
            guard let bytes = resources.read("raw/\(name).\(suffix)") else { continue }
            return try ForeignValues.certificates(bytes, name: "raw/\(name).\(suffix)", at: place)
        }
        throw .unusable(
            "unreadable-file", "raw/\(name).pem, and with other endings, is not there", at: place,
            hint: "name the folder res: --files FOLDER")
    }
}
