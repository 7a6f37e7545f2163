/// A host that the client connects to, and the scenarios there.
package struct AttackedHost: Sendable {
    package let catalogue: Catalogue
    /// The scenarios to run, in the order of the catalogue.
    package var scenarios: [Scenario]
    /// The HTTPS port in the client's URLs if it comes through a proxy; `nil` for a client that connects to the
    /// servers.
    package let clientPort: UInt16?
    /// The values of the client's placeholders that are the same in every run.
    package var values: [String: String] = [:]
    /// The values that differ in scenarios for a client that pins the second host too.
    package var valuesForSecondPin: [String: String] = [:]

    package init(catalogue: Catalogue, scenarios: [Scenario], clientPort: UInt16? = nil) {
        (self.catalogue, self.scenarios, self.clientPort) = (catalogue, scenarios, clientPort)
    }

    package var name: String { catalogue.certificates.host }

    /// `api.example.com`, or with another port than 443 `api.example.com:8443`.
    package var authority: String {
        clientPort.map { Proxy.authority(name, $0, standard: 443) } ?? name
    }
}
