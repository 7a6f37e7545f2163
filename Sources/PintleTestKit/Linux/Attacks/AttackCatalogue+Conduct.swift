extension AttackCatalogue {
    /// Good certificates, and a server that behaves badly.
    static func conduct(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let genuine = TLSServerConfiguration.Credential(cast.genuine)
        let interceptor = TLSServerConfiguration.Credential(try cast.interceptor())
        func configured(_ change: (inout TLSServerConfiguration) -> Void) -> Attack.Staging {
            var configuration = TLSServerConfiguration(genuine)
            change(&configuration)
            return .server(configuration)
        }
        var attacks = [
            Attack(
                "tls-1.0", "TLS 1.0 at most", .refused, reference: "RFC 8996 section 4",
                stake: "old TLS can be broken", configured { $0.versions = .tls10 ... .tls10 }),
            Attack(
                "tls-1.1", "TLS 1.1 at most", .refused, reference: "RFC 8996 section 5",
                stake: "old TLS can be broken", configured { $0.versions = .tls11 ... .tls11 }),
            Attack(
                "redirect-to-http", "the right server sends the client on to plain HTTP", .refused,
                reference: "RFC 9110 section 15.4", stake: "anybody on the network reads it",
                .plainRedirect(genuine)),
            Attack(
                "retry-after-401", "a password is asked for; who connects again meets an interceptor", .refused,
                reference: "RFC 9110 section 15.5.2", stake: "the retry carries the password",
                .challenge(genuine, then: interceptor)),
            Attack(
                "stall-mid-handshake", "half a handshake, and then nothing", .refused,
                reference: "RFC 8446 section 4.4", stake: "a server holds the client for ever",
                // Longer than anybody waits; the connection ends with the server.
                configured { $0.stall = .midHandshake(seconds: 86_400) }),
        ]
        if let other = cast.otherHost {
            let target = TLSServerConfiguration.Credential(try cast.interceptor(for: other))
            attacks.insert(
                Attack(
                    "redirect-to-unpinned-host", "the right server sends the client on to a host without pins",
                    .refused, reference: "RFC 9110 section 15.4", stake: "the request goes where nobody is pinned",
                    .redirect(genuine, host: other, to: target)), at: 2)
        }
        return attacks
    }
}
