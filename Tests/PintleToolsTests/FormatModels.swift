import FoundationEssentials
import Pintle

@testable import PintleConsole
@testable import PintlePolicyFile
@testable import PintlePolicyTools
@testable import PintleText
@testable import PintleTools

/// The answer of the program that a file is for.
enum ModelAnswer {
    case trusted, refused
    /// The file says nothing about the host: the device's trust decides.
    case notCovered
}

/// A reader of a format, written from the code of the program that the format is for, without the tool's own readers.
protocol FormatModel {
    func answer(_ host: String, _ port: UInt16, _ server: FormatWorld.Server, at instant: Date) -> ModelAnswer
}

/// The program would not start with the file.
struct ModelRefusal: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension FormatModel {
    func trusts(_ host: String, _ port: UInt16, _ server: FormatWorld.Server, at instant: Date) -> Bool {
        switch answer(host, port, server, at: instant) {
        case .trusted: true
        case .refused: false
        case .notCovered: server.root == .system
        }
    }
}

/// A value of a property list.
indirect enum ModelValue {
    case text(String)
    case flag(Bool)
    case list([ModelValue])
    case table([(key: String, value: ModelValue)])

    init(plist bytes: [UInt8]) throws {
        guard let child = try XMLDocument.root(bytes).children.first else { throw ModelRefusal("empty") }
        self.init(child)
    }

    private init(_ element: XMLElement) {
        switch element.name {
        case "true", "false": self = .flag(element.name == "true")
        case "array": self = .list(element.children.map(ModelValue.init))
        case "dict":
            let children = element.children
            self = .table(
                stride(from: 0, to: children.count - 1, by: 2).map {
                    (key: children[$0].text, value: ModelValue(children[$0 + 1]))
                })
        default: self = .text(element.text)
        }
    }

    var members: [(key: String, value: ModelValue)] {
        if case .table(let members) = self { members } else { [] }
    }
    var items: [ModelValue] {
        if case .list(let items) = self { items } else { [] }
    }
    var string: String? {
        if case .text(let text) = self { text } else { nil }
    }
    var isTrue: Bool {
        if case .flag(let flag) = self { flag } else { false }
    }

    subscript(key: String) -> ModelValue? { members.first { $0.key == key }?.value }
}

/// NSPinnedDomains, after `parseNSPinnedDomains` in SecPolicy.c and the two checks of hashes in SecPolicyServer.c.
struct ATSModel: FormatModel {
    private let entries: [(key: String, value: ModelValue)]
    /// False for a planted fault: the entry of the host hides the one of its parent domain.
    var addsUp = true

    init(_ bytes: [UInt8]) throws {
        let root = try ModelValue(plist: bytes)
        entries = root["NSAppTransportSecurity"]?["NSPinnedDomains"]?.members ?? []
    }

    private func hashes(_ kind: String, for host: String) -> Set<String>? {
        let parent = host.split(separator: ".", maxSplits: 1).dropFirst().first.map(String.init)
        let own = entries.filter { $0.key.lowercased() == host }
        let above = entries.filter {
            $0.value["NSIncludesSubdomains"]?.isTrue == true && $0.key.lowercased() == parent
        }
        let lists = (addsUp || own.isEmpty ? own + above : own).compactMap { $0.value[kind] }
        if lists.isEmpty { return nil }
        return Set(lists.flatMap(\.items).compactMap { $0["SPKI-SHA256-BASE64"]?.string })
    }

    func answer(_ host: String, _ port: UInt16, _ server: FormatWorld.Server, at instant: Date) -> ModelAnswer {
        let leaves = hashes("NSPinnedLeafIdentities", for: host)
        let authorities = hashes("NSPinnedCAIdentities", for: host)
        if leaves == nil, authorities == nil { return .notCovered }
        guard server.root == .system, leaves?.contains(server.keys[0]) ?? true else { return .refused }
        return authorities?.isDisjoint(with: server.keys.dropFirst()) ?? false ? .refused : .trusted
    }
}

/// Android, after XmlConfigSource, ApplicationConfig and NetworkSecurityTrustManager.
struct NSCModel: FormatModel {
    private struct Config {
        var anchors: [(source: String, overridesPins: Bool)]
        var pins: [String]?
        var end: Date?
    }

    private var domains: [(name: String, isWide: Bool, config: Config)] = []
    private var base = Config(anchors: [("system", false)])
    private let files: [String: String]

    init(_ bytes: [UInt8], files: [String: String]) throws {
        self.files = files
        let root = try XMLDocument.root(bytes)
        for element in root.children where element.name == "base-config" { read(element, &base) }
        for element in root.children where element.name == "domain-config" { try add(element, base) }
    }

    private func read(_ element: XMLElement, _ config: inout Config) {
        for child in element.children {
            if child.name == "trust-anchors" {
                config.anchors = child.children.map {
                    ($0.attribute("src") ?? "", $0.attribute("overridePins") == "true")
                }
            } else if child.name == "pin-set" {
                config.pins = child.children.map { $0.text.trimmed }
                config.end = child.attribute("expiration").flatMap { try? RFC3339.date(from: $0 + "T00:00:00Z") }
            }
        }
    }

    private mutating func add(_ element: XMLElement, _ parent: Config) throws {
        var config = parent
        read(element, &config)
        for domain in element.children where domain.name == "domain" {
            let name = domain.text.trimmed.lowercased()
            guard !domains.contains(where: { $0.name == name }) else { throw ModelRefusal("\(name) twice") }
            domains.append((name, domain.attribute("includeSubdomains") == "true", config))
        }
        for child in element.children where child.name == "domain-config" { try add(child, config) }
    }

    func answer(_ host: String, _ port: UInt16, _ server: FormatWorld.Server, at instant: Date) -> ModelAnswer {
        let wide = domains.filter { $0.isWide && host.hasSuffix("." + $0.name) }
        let best = domains.first { $0.name == host } ?? wide.max { $0.name.utf8.count < $1.name.utf8.count }
        let config = best?.config ?? base
        let trusting = config.anchors.filter { holds($0.source, server) }
        guard !trusting.isEmpty else { return .refused }
        // Android asks the anchors that override pins first.
        if trusting.contains(where: \.overridesPins) { return .trusted }
        guard let pins = config.pins, !pins.isEmpty, config.end.map({ instant <= $0 }) ?? true else { return .trusted }
        return Set(pins).isDisjoint(with: server.keys) ? .refused : .trusted
    }

    private func holds(_ source: String, _ server: FormatWorld.Server) -> Bool {
        switch source {
        case "system": server.root == .system
        case "user": server.root == .user
        default: files[source.replacing("@raw/", with: "raw/") + ".pem"] == server.rootPEM
        }
    }
}

/// OkHttp, after `CertificatePinner` in CertificatePinner.kt.
struct OkHttpModel: FormatModel {
    private var pins: [(pattern: String, hash: String)] = []

    /// Reads the string literals of calls of `add`, in Kotlin or Java.
    init(_ text: String) throws {
        for call in text.split(separator: ".add(").dropFirst() {
            let literals = call.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
            for pin in literals.dropFirst() {
                guard pin.hasPrefix("sha256/") else { throw ModelRefusal(pin) }
                pins.append((literals[0], String(pin.dropFirst(7))))
            }
        }
    }

    func answer(_ host: String, _ port: UInt16, _ server: FormatWorld.Server, at instant: Date) -> ModelAnswer {
        let found = pins.filter { Self.matches($0.pattern, host) }
        if found.isEmpty { return .notCovered }
        guard server.root == .system else { return .refused }
        return found.contains { server.keys.contains($0.hash) } ? .trusted : .refused
    }

    private static func matches(_ pattern: String, _ host: String) -> Bool {
        if pattern.hasPrefix("**.") {
            let name = pattern.dropFirst(3)
            return host == name || host.hasSuffix("." + name)
        }
        if pattern.hasPrefix("*.") {
            guard host.hasSuffix(pattern.dropFirst()) else { return false }
            return !host.dropLast(pattern.utf8.count - 1).contains(".")
        }
        return pattern == host
    }
}

/// TrustKit 3.0, after parse_configuration.m, configuration_utils.m and TSKPinningValidator.m.
struct TrustKitModel: FormatModel {
    private let domains: [(key: String, value: ModelValue)]
    /// The top-level domains of the tests that are in TrustKit's registry.
    private static let registered: Set<String> = ["com", "org", "net"]

    init(_ bytes: [UInt8]) throws {
        let root = try ModelValue(plist: bytes)
        domains = (root["TSKConfiguration"] ?? root)["TSKPinnedDomains"]?.members ?? []
        if domains.isEmpty { throw ModelRefusal("no pinned domains") }
        for (name, settings) in domains {
            let suffix = String(name.split(separator: ".").last ?? "")
            guard Self.registered.contains(suffix) else { throw ModelRefusal("invalid domain \(name)") }
            if Self.isExcluded(settings) {
                guard settings.members.count == 1, key(for: "a" + name) != nil else {
                    throw ModelRefusal("exclusion of \(name)")
                }
                continue
            }
            if suffix == name, settings["TSKIncludeSubdomains"]?.isTrue == true { throw ModelRefusal(name) }
            let hashes = Set(settings["TSKPublicKeyHashes"]?.items.compactMap(\.string) ?? [])
            let isEnforced = settings["TSKEnforcePinning"]?.isTrue ?? true
            guard hashes.count >= (isEnforced ? 2 : 1) else { throw ModelRefusal("too few pins of \(name)") }
        }
    }

    private static func isExcluded(_ settings: ModelValue) -> Bool {
        settings["kSKExcludeSubdomainFromParentPolicy"]?.isTrue ?? false
    }

    private func key(for host: String) -> String? {
        if domains.contains(where: { $0.key == host }) { return host }
        let wide = domains.filter { $0.value["TSKIncludeSubdomains"]?.isTrue == true && host.hasSuffix("." + $0.key) }
        return wide.max { $0.key.utf8.count < $1.key.utf8.count }?.key
    }

    func answer(_ host: String, _ port: UInt16, _ server: FormatWorld.Server, at instant: Date) -> ModelAnswer {
        guard let key = key(for: host), let settings = domains.first(where: { $0.key == key })?.value else {
            return .notCovered
        }
        let end = settings["TSKExpirationDate"]?.string.flatMap { try? RFC3339.date(from: $0 + "T00:00:00Z") }
        if let end, end < instant { return .notCovered }
        if Self.isExcluded(settings) { return .notCovered }
        guard server.root == .system else { return .refused }
        let hashes = settings["TSKPublicKeyHashes"]?.items.compactMap(\.string) ?? []
        let isEnforced = settings["TSKEnforcePinning"]?.isTrue ?? true
        return !isEnforced || !Set(hashes).isDisjoint(with: server.keys) ? .trusted : .refused
    }
}

/// curl, after `Curl_pin_peer_pubkey` in vtls.c, with one command for each host and port.
struct CurlModel: FormatModel {
    private struct Call {
        var url = ""
        var pins: [String]?
        var roots: String?
    }

    private let calls: [Call]
    private let files: [String: String]

    init(_ text: String, files: [String: String]) throws {
        self.files = files
        calls = try text.split(separator: "\n").filter { $0.hasPrefix("curl ") }.map { line in
            var call = Call()
            var words = line.split(separator: " ").map { $0.filter { $0 != "'" } }.dropFirst()
            while let word = words.popFirst() {
                switch word {
                case "--pinnedpubkey":
                    call.pins = try words.popFirst()?.split(separator: ";").map { pin in
                        guard pin.hasPrefix("sha256//") else { throw ModelRefusal(String(pin)) }
                        return String(pin.dropFirst(8))
                    }
                case "--cacert": call.roots = words.popFirst()
                case "--globoff": break
                default: call.url = word
                }
            }
            return call
        }
    }

    func answer(_ host: String, _ port: UInt16, _ server: FormatWorld.Server, at instant: Date) -> ModelAnswer {
        let url = "https://\(host)\(port == 443 ? "" : ":\(port)")/"
        guard let call = calls.first(where: { $0.url.replacing(":443/", with: "/") == url }) else { return .notCovered }
        let isValid = call.roots.map { files[$0] == server.rootPEM } ?? (server.root == .system)
        return isValid && call.pins?.contains(server.keys[0]) ?? true ? .trusted : .refused
    }
}

/// Envoy, after `DefaultCertValidator`: hashes of keys and certificates are compared with the leaf. One is enough.
struct EnvoyModel: FormatModel {
    private struct Cluster {
        let address: String
        let port: Int64
        let hashes: Set<String>
        let roots: String?
    }

    private let clusters: [Cluster]

    init(_ bytes: [UInt8]) throws {
        let root = try JSONDocument(bytes).root
        clusters =
            (root["static_resources"]?["clusters"]?.elements).map(Array.init)?.map { cluster in
                let endpoint = cluster["load_assignment"]?["endpoints"]?.elements?.first { _ in true }
                let address = endpoint?["lb_endpoints"]?.elements?.first { _ in true }?["endpoint"]?["address"]
                let socket = address?["socket_address"]
                let validation = cluster["transport_socket"]?["typed_config"]?["common_tls_context"]?[
                    "validation_context"]
                var hashes: [String] = []
                for list in [validation?["verify_certificate_spki"], validation?["verify_certificate_hash"]] {
                    hashes += (list?.elements).map(Array.init)?.compactMap(\.string) ?? []
                }
                return Cluster(
                    address: socket?["address"]?.string ?? "", port: socket?["port_value"]?.integer ?? 0,
                    hashes: Set(hashes), roots: validation?["trusted_ca"]?["inline_string"]?.string)
            } ?? []
    }

    func answer(_ host: String, _ port: UInt16, _ server: FormatWorld.Server, at instant: Date) -> ModelAnswer {
        guard let cluster = clusters.first(where: { $0.address == host && $0.port == port }) else { return .notCovered }
        let isValid = cluster.roots.map { $0 == server.rootPEM } ?? (server.root == .system)
        let matches = cluster.hashes.isEmpty || !cluster.hashes.isDisjoint(with: [server.keys[0], server.leafHash])
        return isValid && matches ? .trusted : .refused
    }
}

extension ForeignFormat {
    /// Returns the model of the program that reads the files.
    func model(_ files: [ExportedFile]) throws -> any FormatModel {
        let text = files[0].content
        let others = Dictionary(files.dropFirst().map { ($0.name, $0.content) }) { first, _ in first }
        return switch self {
        case .ats: try ATSModel(Array(text.utf8))
        case .nsc: try NSCModel(Array(text.utf8), files: others)
        case .okhttp: try OkHttpModel(text)
        case .trustkit: try TrustKitModel(Array(text.utf8))
        case .curl: try CurlModel(text, files: others)
        case .envoy: try EnvoyModel(Array(text.utf8))
        }
    }
}
