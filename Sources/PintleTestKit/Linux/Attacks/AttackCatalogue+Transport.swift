extension AttackCatalogue {
    /// Returns the attacks with good certificates and outdated TLS.
    static func transport(_ cast: AttackCast) -> [Attack] {
        func limited(to version: LoopbackTLSServer.Version) -> Attack.Staging {
            var configuration = TLSServerConfiguration(.init(cast.genuine))
            configuration.versions = version...version
            return .server(configuration)
        }
        return [
            Attack(
                "tls-1.0", "TLS 1.0 at most", .refused, reference: "RFC 8996 section 4",
                stake: "attackers can break old TLS", limited(to: .tls10)),
            Attack(
                "tls-1.1", "TLS 1.1 at most", .refused, reference: "RFC 8996 section 5",
                stake: "attackers can break old TLS", limited(to: .tls11)),
        ]
    }
}
