internal import PintleTestKit

extension Catalogue {
    /// Returns the attacks with a valid path for another name.
    static func names(_ certificates: Certificates) throws(MintingError) -> [Scenario] {
        [
            Scenario(
                "wrong-host", "the right key in a certificate for another name", .refused,
                reference: "RFC 9525 section 6", impact: "the client ignores names",
                .server(try certificates.spoilt { $0.subjectAltNames = [.dns(certificates.foreignName)] })),
            Scenario(
                "other-hosts-certificate", "another host's valid certificate", .refused,
                reference: "RFC 9525 section 6", impact: "the owner of any certificate can read the traffic",
                .server(try certificates.interceptor(for: certificates.foreignName))),
            Scenario(
                "cn-only", "an interceptor with the name only in the subject", .refused,
                reference: "RFC 9525 section 2", impact: "authorities do not check that field",
                .server(try certificates.otherAuthority.issue(hosts: [certificates.host]) { $0.subjectAltNames = [] })),
        ]
    }

    /// Returns the attacks with good certificates and outdated TLS.
    static func transport(_ certificates: Certificates) -> [Scenario] {
        func limited(to version: LoopbackTLSServer.Version) -> Scenario.Setup {
            var configuration = TLSServerConfiguration(.init(certificates.genuine))
            configuration.versions = version...version
            return .server(configuration)
        }
        return [
            Scenario(
                "tls-1.0", "TLS 1.0 at most", .refused, reference: "RFC 8996 section 4",
                impact: "attackers can break old TLS", limited(to: .tls10)),
            Scenario(
                "tls-1.1", "TLS 1.1 at most", .refused, reference: "RFC 8996 section 5",
                impact: "attackers can break old TLS", limited(to: .tls11)),
        ]
    }
}
