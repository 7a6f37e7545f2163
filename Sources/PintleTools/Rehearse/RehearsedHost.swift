internal import PintleTestKit

/// A host that the client connects to, and the attacks on it.
struct RehearsedHost: Sendable {
    let catalogue: AttackCatalogue
    /// The attacks to run, in the order of the catalogue.
    var attacks: [Attack]
    /// The HTTPS port in the client's URLs if it comes through a proxy; `nil` for a client that connects to the servers.
    var clientPort: UInt16?

    var name: String { catalogue.cast.host }

    /// `api.example.com`, or with another port than 443 `api.example.com:8443`.
    var authority: String {
        guard let clientPort, clientPort != 443 else { return name }
        return name.contains(":") ? "[\(name)]:\(clientPort)" : "\(name):\(clientPort)"
    }
}
