internal import PintleTestKit

/// The attacks that a client must refuse, and the changes of a server that it must accept.
///
/// The initializer mints the certificates. Servers run only after ``Scenario/start()``.
package struct Catalogue: Sendable {
    /// The certificates and keys of the attacks.
    package let certificates: Certificates
    /// The right server. Each of ``scenarios`` differs from it in one thing. If a client refuses this server, its other
    /// results prove nothing.
    package let control: Scenario
    /// The attacks, and the changes of a server that a client must accept, by group. ``control`` is not among them.
    package let scenarios: [Scenario]

    /// The attacks that are not here, because they need a client that keeps running from one server to the next. Tests
    /// within one process cover them.
    package static let omissions: [(id: String, reason: String)] = [
        (
            "resumed-session-after-policy-change",
            "needs a client that changes its policy while it runs"
        ),
        (
            "connection-kept-after-policy-change",
            "needs a client that changes its policy while it runs"
        ),
        ("approved-server-changed", "needs a client that asks the user and remembers the answer"),
    ]

    /// Mints the certificates of all attacks on one host.
    ///
    /// - Parameters:
    ///   - host: The name or address that the client connects to. It must lead to this machine.
    ///   - secondHost: Another one, for a redirect to a host without pins. `nil` leaves that attack out.
    ///   - authorities: The authorities that several hosts share; `nil` mints them.
    ///   - protocols: The versions of HTTP that the servers offer.
    /// - Throws: ``MintingError`` if OpenSSL cannot make a certificate.
    package init(
        host: String = "localhost", secondHost: String? = "127.0.0.1", authorities: Authorities? = nil,
        offering protocols: OfferedProtocols = .both
    ) throws {
        let certificates = try Certificates(
            host: host, secondHost: secondHost, authorities: authorities ?? Authorities())
        func placed(_ scenario: Scenario, in group: Scenario.Group?) -> Scenario {
            var scenario = scenario
            (scenario.group, scenario.host, scenario.offered) = (group, host, protocols)
            if certificates.client != nil { scenario.question = certificates.question }
            return scenario
        }
        self.certificates = certificates
        control = placed(
            Scenario(
                "control", "the right server", .accepted, reference: "RFC 9525 section 6",
                impact: "a client that refuses this server refuses every server", .server(certificates.genuine)),
            in: nil)
        scenarios = try Scenario.Group.allCases.flatMap { group in
            try group.scenarios(certificates).map { placed($0, in: group) }
        }
    }

    /// Returns the attack or the control with this id, or `nil`.
    package subscript(id: String) -> Scenario? { ([control] + scenarios).first { $0.id == id } }
}
