internal import Pintle

/// One certificate or key as `pin` lists it.
struct PinEntry {
    /// `leaf`, `1`, `2`..., `root`, `extra`, `key`, `csr`.
    let position: String
    let item: SourceItem
    /// Whether the server sent it; `nil` for files.
    var isSent: Bool?
    /// Whether the validated path runs through it; `nil` for files.
    var isOnPath: Bool?
    /// What the position alone does not say.
    var remark: String?

    /// Certificates in the order of a chain file, whose first is the leaf: the name says where a certificate
    /// stands in the file, not that anyone has validated it. A last one that names itself as its issuer is
    /// called root. Keys and requests stand where they are.
    static func list(_ items: [SourceItem]) -> [PinEntry] {
        let certificateCount = items.count { $0.certificate != nil }
        var depth = 0
        return items.map { item in
            switch item {
            case .certificate(let certificate):
                defer { depth += 1 }
                let position = position(
                    depth, of: certificateCount, isRoot: certificate.isCA && certificate.isSelfIssued)
                return PinEntry(position: position, item: item)
            case .request: return PinEntry(position: "csr", item: item)
            case .key: return PinEntry(position: "key", item: item)
            }
        }
    }

    static func position(_ depth: Int, of count: Int, isRoot: Bool) -> String {
        if depth == 0 { return "leaf" }
        return depth == count - 1 && isRoot ? "root" : "\(depth)"
    }
}

/// What `pin` found in one source.
struct PinListing {
    /// As it was given; `host:port` for servers.
    let source: String
    let entries: [PinEntry]
    var server: ServerFindings?

    /// What a handshake showed beside the certificates.
    struct ServerFindings {
        let endpoint: ServerEndpoint
        /// Why the system does not trust it; `nil` where it does.
        let failure: PathFailure?
        /// `TLS 1.3`; `nil` where the handshake broke after the certificate.
        let protocolVersion: String?
        let address: String?
    }
}
