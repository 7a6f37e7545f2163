internal import Pintle

/// A reader of clusters of an Envoy configuration in JSON: those that use TLS, and how each validates.
struct EnvoyImport {
    private let files: ForeignFolder
    private var draft = ImportDraft()
    /// The clusters, with the member that names their hosts.
    private var rules: [(rule: PinnedHost, name: JSONValue)] = []

    static func read(_ bytes: [UInt8], files: ForeignFolder) throws(ToolError) -> ImportDraft {
        let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard first == UInt8(ascii: "{") else {
            throw .unusable(
                "unexpected-character", "not JSON", at: TextPlace(line: 1, column: 1),
                hint: "YAML is not read: convert it to JSON, which Envoy takes as well")
        }
        let root = try ForeignJSON.document(bytes, allowsComments: false).root
        // Listeners, routes and other members have nothing to do with pins.
        guard let clusters = root["static_resources"]?["clusters"] ?? root["clusters"] else {
            throw .unusable("nothing-pinned", "no static_resources with clusters", at: root.place)
        }
        var reader = EnvoyImport(files: files)
        for cluster in try clusters.elements("clusters") { try reader.read(cluster) }
        guard !reader.rules.isEmpty else {
            throw .unusable("nothing-pinned", "no cluster speaks TLS", at: clusters.place)
        }
        // All places are found in one pass, because each search by itself would read the file from its beginning.
        let places = JSONDocument.places(of: reader.rules.map(\.name.offset), in: root)
        for (entry, place) in zip(reader.rules, places) {
            reader.draft.add(entry.rule, at: place)
        }
        return reader.draft
    }

    private mutating func read(_ cluster: JSONValue) throws(ToolError) {
        guard cluster.kind == .object else {
            throw .unusable("wrong-type", "a cluster is not an object", at: cluster.place)
        }
        try Self.refuseCamelCase(cluster, "a cluster")
        if let matches = cluster["transport_socket_matches"] {
            throw .unusable(
                "not-expressible", "the TLS context depends on the endpoint", at: matches.place)
        }
        guard let socket = cluster["transport_socket"] else { return }
        guard let config = socket["typed_config"], let type = config["@type"]?.string else {
            throw .unusable("missing-key", "a transport_socket without typed_config", at: socket.place)
        }
        // Clusters without TLS have nothing to pin.
        if type.hasSuffix(".RawBuffer") { return }
        guard type == EnvoyExport.contextType else {
            throw .unusable(
                "unknown-value", "the transport socket \(type.prefix(120)) is not known", at: config.place)
        }
        try readContext(config, cluster)
    }

    /// Refuses names like `transportSocket`, which Protobuf's JSON also allows for the members that are read here.
    private static func refuseCamelCase(_ value: JSONValue, _ name: String) throws(ToolError) {
        guard let members = value.members else { return }
        for member in members {
            let key = member.key.string ?? ""
            guard key.utf8.contains(where: { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }) else { continue }
            throw .unusable(
                "unknown-key", "\(name) has the key \(key.prefix(120)) in camel case", at: member.key.place,
                hint: "write names as Envoy's documentation does: transport_socket")
        }
    }

    private static let contextKeys = [
        "@type", "common_tls_context", "sni", "allow_renegotiation", "max_session_keys", "auto_host_sni",
        "enforce_rsa_key_usage",
    ]
    private static let commonKeys = [
        "tls_params", "tls_certificates", "validation_context", "alpn_protocols", "key_log",
    ]

    private mutating func readContext(_ config: JSONValue, _ cluster: JSONValue) throws(ToolError) {
        var sni: (String, JSONValue)?
        var validation: JSONValue?
        var lost: [String] = []
        for (key, value) in try config.members("UpstreamTlsContext", known: Self.contextKeys) {
            switch key {
            case "@type": break
            case "sni": sni = (try value.text(key), value)
            case "common_tls_context":
                for (key, value) in try value.members(key, known: Self.commonKeys) {
                    if key == "validation_context" { validation = value } else { lost.append(key) }
                }
            default: lost.append(key)
            }
        }
        guard let validation else {
            throw .unusable(
                "not-expressible", "nothing is validated, which no policy says", at: config.place,
                hint: "add a validation_context with trusted_ca")
        }
        var names: [(String, JSONValue)] = []
        var pins: [Pin] = []
        var anchors: TrustAnchors?
        let known = [
            "trusted_ca", "verify_certificate_spki", "verify_certificate_hash", "match_typed_subject_alt_names",
        ]
        for (key, value) in try validation.members("validation_context", known: known) {
            switch key {
            case "trusted_ca": anchors = try readAnchors(value)
            case "match_typed_subject_alt_names":
                for element in try value.elements(key) { names.append(try readName(element)) }
            case "verify_certificate_spki":
                for (text, element) in try value.texts(key) {
                    pins.append(Pin(.publicKey(try ForeignValues.key(text, at: element.place)), at: .leaf))
                }
            default:
                for (text, element) in try value.texts(key) {
                    do {
                        pins.append(try .certificate(text, at: .leaf))
                    } catch {
                        throw .unusable(error.code, error.description, at: element.place, hint: error.hint)
                    }
                }
            }
        }
        guard names.count <= 1 else {
            throw .unusable(
                "not-expressible", "one of several names is enough, which no policy says", at: names[1].1.place)
        }
        guard let (name, value) = names.first ?? sni else {
            throw .unusable(
                "missing-key", "neither sni nor match_typed_subject_alt_names names the host", at: config.place)
        }
        var rule = PinnedHost(unchecked: try ForeignValues.host(name, at: value.place))
        rule.port = try port(of: cluster)
        rule.pins = pins
        rule.anchors = anchors ?? .system
        if anchors == nil || names.isEmpty {
            draft.lose(
                .validation, .stricter, "path and name are validated, which the cluster does not do", rule.description)
        }
        for key in lost {
            // Only versions and ciphers refuse servers.
            let effect: PolicyLoss.Effect = key == "tls_params" ? .weaker : .other
            draft.lose(.tlsSettings, effect, "\(key): a policy has no settings of TLS", rule.description)
        }
        rules.append((rule, value))
    }

    /// Returns the host or address that an alternative name must equal.
    private func readName(_ element: JSONValue) throws(ToolError) -> (String, JSONValue) {
        guard let type = element["san_type"]?.string, type == "DNS" || type == "IP_ADDRESS",
            let matcher = element["matcher"], let exact = matcher["exact"], let text = exact.string, matcher.count == 1
        else {
            throw .unusable(
                "not-expressible", "a name is compared in another way than with one host", at: element.place,
                hint: "write {\"san_type\": \"DNS\", \"matcher\": {\"exact\": \"HOST\"}}")
        }
        return (text, exact)
    }

    /// Files with the roots of common systems.
    private static let systemFiles: Set<String> = [
        EnvoyExport.systemRoots, "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/usr/local/etc/ssl/cert.pem",
    ]

    private func readAnchors(_ value: JSONValue) throws(ToolError) -> TrustAnchors {
        for (key, setting) in try value.members("trusted_ca", known: ["filename", "inline_string"]) {
            let text = try setting.text(key)
            if key == "inline_string" {
                return .only(
                    try ForeignValues.certificates(Array(text.utf8), name: "trusted_ca", at: value.place))
            }
            if Self.systemFiles.contains(text) { return .system }
            guard let bytes = files.read(text) else {
                throw .unusable(
                    "unreadable-file", "\(text) is not there", at: value.place,
                    hint: "name the folder it is relative to: --files FOLDER")
            }
            return .only(try ForeignValues.certificates(bytes, name: text, at: value.place))
        }
        throw .unusable("no-anchors", "trusted_ca is empty", at: value.place)
    }

    private func port(of cluster: JSONValue) throws(ToolError) -> UInt16 {
        var ports: Set<Int64> = []
        if let assignment = cluster["load_assignment"] { try Self.refuseCamelCase(assignment, "load_assignment") }
        for endpoints in cluster["load_assignment"]?["endpoints"]?.elements.map(Array.init) ?? [] {
            try Self.refuseCamelCase(endpoints, "endpoints")
            for endpoint in endpoints["lb_endpoints"]?.elements.map(Array.init) ?? [] {
                let address = endpoint["endpoint"]?["address"]?["socket_address"]
                guard let port = address?["port_value"]?.integer else {
                    throw .unusable(
                        "not-expressible", "an endpoint without a port_value", at: endpoint.place,
                        hint: "give each endpoint a socket_address with the same port_value")
                }
                ports.insert(port)
            }
        }
        guard let first = ports.first, ports.count == 1, let port = UInt16(exactly: first), port > 0 else {
            throw .unusable(
                "not-expressible", "the endpoints have no port in common", at: cluster.place,
                hint: "give the cluster a load_assignment whose endpoints have one port_value")
        }
        return port
    }
}
