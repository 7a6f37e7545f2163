/// The attacks that a client has to withstand, and the changes of a server that it has to bear.
///
/// Certificates are minted when the catalogue is made; nothing runs until an attack is started.
public struct AttackCatalogue: Sendable {
    public let cast: AttackCast
    /// The right server, which differs in one thing from each of ``attacks``. What a client that refuses this one does
    /// about the others proves nothing.
    public let control: Attack
    public let attacks: [Attack]

    /// What cannot be done to a client that is started anew for each server, and why: it is left to tests within one
    /// process.
    public static let omissions: [(id: String, reason: String)] = [
        (
            "resumed-session-after-policy-change",
            "needs a client that changes its policy while it runs"
        ),
        ("approved-server-changed", "needs a client that asks a person and remembers the answer"),
    ]

    /// - Parameters:
    ///   - host: The name or address that the client is sent to; it has to lead to this machine.
    ///   - otherHost: Another one, for a redirect to a host that nobody has pinned; `nil` leaves that attack out.
    public init(host: String = "localhost", otherHost: String? = "127.0.0.1") throws {
        let cast = try AttackCast(host: host, otherHost: otherHost)
        self.cast = cast
        func staged(_ attack: Attack) -> Attack {
            var attack = attack
            attack.host = host
            return attack
        }
        let genuine = Attack(
            "control", "the right server", .accepted, reference: "RFC 9525 section 6",
            stake: "a client that refuses this one refuses everything", .server(cast.genuine))
        let others =
            try AttackCatalogue.interceptions(cast) + AttackCatalogue.badCertificates(cast)
            + AttackCatalogue.badPaths(cast) + AttackCatalogue.changes(cast) + AttackCatalogue.conduct(cast)
        control = staged(genuine)
        attacks = others.map(staged)
    }

    /// The attack with this id, or the control.
    public subscript(id: String) -> Attack? { ([control] + attacks).first { $0.id == id } }
}

extension Attack.Staging {
    static func server(_ identity: Identity) -> Self { .server(TLSServerConfiguration(.init(identity))) }

    static func server(_ chain: [[UInt8]], _ key: PrivateKey) -> Self {
        .server(TLSServerConfiguration(.init(chain: chain, key: key)))
    }
}
