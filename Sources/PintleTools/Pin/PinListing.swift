internal import Pintle

/// One certificate or key as `pin` lists it.
struct PinEntry {
    /// `leaf`, `1`, `2`..., `root`, `extra`, `key`, `csr`.
    let position: String
    let item: SourceItem
    /// A Boolean value that indicates whether the server sent it; `nil` for files.
    var isSent: Bool?
    /// A Boolean value that indicates whether it is on the validated path; `nil` for files.
    var isOnPath: Bool?
    /// A remark about the position.
    var remark: String?

    /// Lists the items of a file. A file of certificates begins with the leaf, as a chain file does, so the position is
    /// that in the file and does not mean that the path was validated. A last certificate that names itself as its issuer
    /// is called root. Keys and requests are listed where they are.
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

/// The result of `pin` for one source.
struct PinListing {
    /// The source as it was given; `host:port` for servers.
    let source: String
    let entries: [PinEntry]
    var server: ServerFindings?

    /// The results of a handshake beside the certificates.
    struct ServerFindings {
        let endpoint: ServerEndpoint
        /// The reason why the system does not trust it; `nil` if it does.
        let failure: PathFailure?
        /// `TLS 1.3`; `nil` if the handshake broke after the certificate.
        let protocolVersion: String?
        let address: String?
    }
}
