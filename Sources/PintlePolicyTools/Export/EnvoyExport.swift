internal import Pintle
internal import PintlePolicyFile

/// A cluster for each host, with a context that validates its certificate.
enum EnvoyExport {
    private static let contextType = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"
    /// The path of the roots on Debian.
    private static let systemRoots = "/etc/ssl/certs/ca-certificates.crt"

    static func file(_ rules: [ExportRule]) -> ExportedFile {
        let json = JSONWriter.document { json in
            json.object("static_resources") { $0.objects("clusters", rules, cluster) }
        }
        return ExportedFile(name: "envoy.json", content: json.text + "\n")
    }

    /// Returns whether a file is a list of clusters and nothing else, as the export writes it.
    static func isShaped(_ text: String) -> Bool {
        var lines = text.prefix(1_024).split(separator: "\n").prefix(8).map { $0.drop { $0 == " " } }
        guard lines.count == 8, lines.remove(at: 4).hasPrefix("\"name\": ") else { return false }
        return lines == [
            "{", "\"static_resources\": {", "\"clusters\": [", "{", "\"type\": \"LOGICAL_DNS\",",
            "\"connect_timeout\": \"5s\",", "\"load_assignment\": {",
        ] && text.hasSuffix("\n    ]\n  }\n}\n")
    }

    private static func cluster(_ json: inout JSONWriter, _ rule: ExportRule) {
        let name = rule.name
        json.member("name", name)
        json.member("type", "LOGICAL_DNS")
        json.member("connect_timeout", "5s")
        json.object("load_assignment") { json in
            json.member("cluster_name", name)
            json.objects("endpoints", [rule]) { json, rule in
                json.objects("lb_endpoints", [rule]) { json, rule in
                    json.object("endpoint") { address(rule, &$0) }
                }
            }
        }
        json.object("transport_socket") { json in
            json.member("name", "envoy.transport_sockets.tls")
            json.object("typed_config") { json in
                json.member("@type", contextType)
                if rule.host.ipAddress == nil { json.member("sni", rule.host.description) }
                json.object("common_tls_context") { json in
                    json.object("validation_context") { validation(rule, &$0) }
                }
            }
        }
    }

    private static func address(_ rule: ExportRule, _ json: inout JSONWriter) {
        json.object("address") { json in
            json.object("socket_address") { json in
                json.member("address", rule.host.description)
                json.member("port_value", rule.port ?? 443)
            }
        }
    }

    private static func validation(_ rule: ExportRule, _ json: inout JSONWriter) {
        json.object("trusted_ca") { json in
            if rule.anchors.includesSystem {
                json.member("filename", systemRoots)
            } else {
                let pem = rule.anchors.certificates.map(\.pem)
                json.member("inline_string", pem.joined())
            }
        }
        json.objects("match_typed_subject_alt_names", [rule.host]) { json, host in
            json.member("san_type", host.ipAddress == nil ? "DNS" : "IP_ADDRESS")
            json.object("matcher") { $0.member("exact", host.description) }
        }
        if !rule.keys.isEmpty { json.member("verify_certificate_spki", rule.keys.map(\.base64)) }
        if !rule.fingerprints.isEmpty {
            json.member("verify_certificate_hash", rule.fingerprints.map(\.description))
        }
    }
}
