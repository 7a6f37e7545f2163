extension AttackCatalogue {
    /// Returns the attacks that begin at the right server and go on elsewhere.
    static func redirect(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let genuine = TLSServerConfiguration.Credential(cast.genuine)
        let interceptor = TLSServerConfiguration.Credential(try cast.interceptor())
        var attacks = [
            Attack(
                "redirect-to-http", "the right server redirects the client to plain HTTP", .refused,
                reference: "RFC 9110 section 15.4", stake: "anyone on the network can read the traffic",
                .plainRedirect(genuine)),
            Attack(
                "retry-after-401", "the right server asks for a password and ends, then an interceptor takes over",
                .refused, reference: "RFC 9110 section 15.5.2", stake: "the retry carries the password",
                .challenge(genuine, then: interceptor)),
        ]
        if let other = cast.otherHost {
            let target = TLSServerConfiguration.Credential(try cast.interceptor(for: other))
            attacks.insert(
                Attack(
                    "redirect-to-unpinned-host", "the right server redirects the client to a host without pins",
                    .refused, reference: "RFC 9110 section 15.4", stake: "the request goes to a host without pins",
                    .redirect(genuine, host: other, to: target)), at: 0)
        }
        return attacks + (try connections(cast))
    }
}
