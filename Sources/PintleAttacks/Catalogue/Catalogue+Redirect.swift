internal import PintleTestKit

extension Catalogue {
    /// Returns the attacks that begin at the right server and go on elsewhere.
    static func redirect(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        let genuine = TLSServerConfiguration.Credential(certificates.genuine)
        let interceptor = try certificates.laterInterceptor()
        var attacks = [
            Scenario(
                "redirect-to-http", "the right server redirects the client to plain HTTP", .refused,
                reference: "RFC 9110 section 15.4", impact: "anyone on the network can read the traffic",
                .plainRedirect(genuine)),
            Scenario(
                "retry-after-401", "the right server asks for a password and ends, then an interceptor takes over",
                .refused, reference: "RFC 9110 section 15.5.2", impact: "the retry carries the password",
                .challenge(genuine, then: interceptor)),
        ]
        if let other = certificates.secondHost {
            let target = TLSServerConfiguration.Credential(try certificates.interceptor(for: other))
            attacks.insert(
                Scenario(
                    "redirect-to-unpinned-host", "the right server redirects the client to a host without pins",
                    .refused, reference: "RFC 9110 section 15.4", impact: "the request goes to a host without pins",
                    .redirect(genuine, host: other, to: target)), at: 0)
        }
        return attacks + (try connections(certificates))
    }

    /// Returns the attacks on the way in which clients of HTTP/2 use connections.
    private static func connections(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        let genuine = TLSServerConfiguration.Credential(certificates.genuine)
        let interceptor = try certificates.laterInterceptor()
        var attacks = [
            Scenario(
                "goaway-moves-request", "the right server ends with GOAWAY, then an interceptor takes over", .refused,
                reference: "RFC 9113 section 6.8", impact: "the retry goes to a connection that was not checked",
                .move(.goAway, genuine, then: interceptor)),
            Scenario(
                "refused-stream-moves-request",
                "the right server refuses the stream and ends, then an interceptor takes over",
                .refused, reference: "RFC 9113 section 8.7",
                impact: "the retry goes to a connection that was not checked",
                .move(.refusedStream, genuine, then: interceptor)),
        ]
        if let other = certificates.secondHost, let right = certificates.secondGenuine {
            // The pins of the first host allow this certificate, and those of the other host do not.
            let covering = try certificates.intermediate.issue(
                hosts: [certificates.host, other], key: certificates.genuine.key)
            attacks.append(
                Scenario(
                    "coalesced-connection", "the right server's certificate also covers a host that has other pins",
                    .refused, reference: "RFC 9113 section 9.1.1", impact: "one host's connection skips another's pins",
                    .coalescing(.init(covering), host: other, right: .init(right))))
        }
        return attacks
    }
}

extension Certificates {
    /// Returns an interceptor that takes over from the right server and, unlike that one, asks for no certificate.
    fileprivate func laterInterceptor() throws(MintingError) -> TLSServerConfiguration.Credential {
        var credential = TLSServerConfiguration.Credential(try interceptor())
        credential.asksClients = false
        return credential
    }
}
