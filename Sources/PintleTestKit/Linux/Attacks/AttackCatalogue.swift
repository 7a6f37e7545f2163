/// The attacks that a client must refuse, and the changes of a server that it must accept.
///
/// The initializer mints the certificates. Servers run only after ``Attack/start()``.
package struct AttackCatalogue: Sendable {
    /// The certificates and keys of the attacks.
    package let cast: AttackCast
    /// The right server. Each of ``attacks`` differs from it in one thing. If a client refuses this server, its other results
    /// prove nothing.
    package internal(set) var control: Attack
    /// The attacks, and the changes of a server that a client must accept, by group. ``control`` is not among them.
    package internal(set) var attacks: [Attack]

    /// The attacks that are not here, because they need a client that keeps running from one server to the next. Tests within
    /// one process cover them.
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

    /// Mints the certificates of all attacks.
    ///
    /// - Parameters:
    ///   - host: The name or address that the client connects to. It must lead to this machine.
    ///   - otherHost: Another one, for a redirect to a host without pins. `nil` leaves that attack out.
    /// - Throws: ``MintingError`` if OpenSSL cannot make a certificate.
    package init(host: String = "localhost", otherHost: String? = "127.0.0.1") throws {
        try self.init(host: host, otherHost: otherHost, authorities: AttackAuthorities())
    }

    /// Mints the certificates of all attacks on one of several hosts.
    package init(host: String, otherHost: String?, authorities: AttackAuthorities) throws {
        let cast = try AttackCast(host: host, otherHost: otherHost, authorities: authorities)
        self.cast = cast
        var control = Attack(
            "control", "the right server", .accepted, reference: "RFC 9525 section 6",
            stake: "a client that refuses this server refuses every server", .server(cast.genuine))
        control.host = host
        self.control = control
        attacks = try AttackGroup.allCases.flatMap { group in
            try group.attacks(cast).map { attack in
                var attack = attack
                (attack.group, attack.host) = (group, host)
                return attack
            }
        }
    }

    /// Returns the attack or the control with this id, or `nil`.
    package subscript(id: String) -> Attack? { ([control] + attacks).first { $0.id == id } }
}
