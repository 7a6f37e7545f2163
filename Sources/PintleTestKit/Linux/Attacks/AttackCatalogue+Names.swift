extension AttackCatalogue {
    /// Returns the attacks with a valid path for another name.
    static func names(_ cast: AttackCast) throws(MintingError) -> [Attack] {
        [
            Attack(
                "wrong-host", "the right key in a certificate for another name", .refused,
                reference: "RFC 9525 section 6", stake: "the client ignores names",
                .server(try cast.spoilt { $0.subjectAltNames = [.dns(cast.foreignName)] })),
            Attack(
                "other-hosts-certificate", "another host's valid certificate", .refused,
                reference: "RFC 9525 section 6", stake: "the owner of any certificate can read the traffic",
                .server(try cast.interceptor(for: cast.foreignName))),
            Attack(
                "cn-only", "an interceptor with the name only in the subject", .refused,
                reference: "RFC 9525 section 2", stake: "authorities do not check that field",
                .server(try cast.otherAuthority.issue(hosts: [cast.host]) { $0.subjectAltNames = [] })),
        ]
    }
}
