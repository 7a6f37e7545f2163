extension AttackCatalogue {
    /// Returns the attacks on the way in which clients of HTTP/2 use connections.
    static func connections(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        let genuine = TLSServerConfiguration.Credential(cast.genuine)
        let interceptor = TLSServerConfiguration.Credential(try cast.interceptor())
        var attacks = [
            Attack(
                "goaway-moves-request", "the right server ends with GOAWAY, then an interceptor takes over", .refused,
                reference: "RFC 9113 section 6.8", stake: "the retry goes to a connection that was not checked",
                .move(.goAway, genuine, then: interceptor)),
            Attack(
                "refused-stream-moves-request",
                "the right server refuses the stream and ends, then an interceptor takes over",
                .refused, reference: "RFC 9113 section 8.7",
                stake: "the retry goes to a connection that was not checked",
                .move(.refusedStream, genuine, then: interceptor)),
        ]
        if let other = cast.otherHost, let right = cast.otherGenuine {
            // The pins of the first host allow this certificate, and those of the other host do not.
            let covering = try cast.intermediate.issue(hosts: [cast.host, other], key: cast.genuine.key)
            attacks.append(
                Attack(
                    "coalesced-connection", "the right server's certificate also covers a host that has other pins",
                    .refused, reference: "RFC 9113 section 9.1.1", stake: "one host's connection skips another's pins",
                    .coalescing(.init(covering), host: other, right: .init(right))))
        }
        return attacks
    }
}

extension Attack {
    /// A Boolean value that indicates whether only clients of HTTP/1.1 reach the attack.
    package var needsHTTP1: Bool {
        if case .application = staging { true } else { false }
    }

    /// A Boolean value that indicates whether only clients of HTTP/2 reach the attack.
    package var needsHTTP2: Bool {
        switch staging {
        case .move, .coalescing: true
        default: false
        }
    }

    /// A Boolean value that indicates whether the attack proves something only about a client that pins
    /// ``AttackCast/otherGenuine`` for ``AttackCast/otherHost``.
    package var needsOtherPin: Bool {
        if case .coalescing = staging { true } else { false }
    }
}
