extension AttackCatalogue {
    /// Returns the servers that keep a client busy or waiting.
    static func hold(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        var stalling = TLSServerConfiguration(.init(cast.genuine))
        // Longer than any client waits. The connection ends with the server.
        stalling.stall = .midHandshake(seconds: 86_400)
        return [
            Attack(
                "stall-mid-handshake", "a server that stops in the middle of the handshake", .refused,
                reference: "RFC 8446 section 4.4", stake: "a server can block the client forever", .server(stalling)),
            Attack(
                "oversized-chain", "the right certificates, followed by 5 MiB of others", .refused,
                reference: "RFC 8446 section 4.4.2", stake: "a server can fill the client's memory",
                .server(cast.genuine.chain + (try ballast()), cast.genuine.key)),
            Attack(
                "name-constraint-bomb", "thousands of names below thousands of name constraints", .ended,
                reference: "RFC 5280 section 4.2.1.10", stake: "anyone on the network can keep the client busy",
                .server(try cast.constraintBomb())),
            Attack(
                "stacked-encodings", "the right server answers with endless gzip inside gzip", .ended,
                reference: "RFC 9110 section 17.5", stake: "a server can block the client forever",
                .application(.init(cast.genuine)) { EmptyGzipStack(depth: 12).answer($0) }),
        ]
    }

    private static func ballast() throws(MintingError) -> [[UInt8]] {
        let fat = try Identity.selfSigned(hosts: ["h.invalid"]) {
            let octets = [UInt8](repeating: 0, count: 1 << 20)
            $0.extraExtensions = [CertificateExtension([2, 999, 2]) { $0.octetString(octets) }]
        }
        return Array(repeating: fat.certificate.der, count: 5)
    }
}

extension AttackCast {
    /// Returns the right key in a valid path with 27 million pairs of a name and an excluded name.
    ///
    /// The certificates stay below 100 KiB, because OpenSSL accepts no longer message by default. A client may accept or
    /// refuse them.
    fileprivate func constraintBomb() throws(MintingError) -> Identity {
        func names(_ numbers: Range<Int>) -> [CertificateTemplate.GeneralName] {
            numbers.map { .dns(String($0, radix: 16) + "." + AttackAuthorities.bombSuffix) }
        }
        let authority = try authority.intermediate(name: "Constraints") {
            $0.nameConstraints = .nameConstraints(excluded: names(0x8000..<0x8000 + 5_000))
        }
        return try authority.issue(hosts: [host], key: genuine.key) {
            $0.subjectAltNames += names(0x1000..<0x1000 + 5_500)
        }
    }
}
