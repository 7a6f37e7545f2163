/// The versions of HTTP that the servers of an attack offer by ALPN (RFC 7301). Clients without ALPN get HTTP/1.1.
package enum OfferedProtocols: String, Sendable, Hashable, CaseIterable {
    case http1 = "1.1"
    case http2 = "2"
    case both

    /// The protocol names for ALPN, the preferred one first, as real servers have them.
    var names: [String] {
        switch self {
        case .http1: ["http/1.1"]
        case .http2: ["h2"]
        case .both: ["h2", "http/1.1"]
        }
    }

    /// Returns the names for a server.
    ///
    /// HTTP/2 needs TLS 1.2 (RFC 9113 section 9.2). So a server with an older version offers HTTP/1.1 if it can: the client
    /// has to refuse the old version of TLS, and not HTTP/2 over it.
    func names(for configuration: TLSServerConfiguration) -> [String] {
        self == .both && configuration.versions.upperBound < .tls12 ? OfferedProtocols.http1.names : names
    }
}

extension AttackCatalogue {
    /// Returns the same attacks by servers that offer some versions of HTTP.
    package func offering(_ protocols: OfferedProtocols) -> AttackCatalogue {
        var catalogue = self
        catalogue.control.offered = protocols
        for index in catalogue.attacks.indices { catalogue.attacks[index].offered = protocols }
        return catalogue
    }
}
