import NIOSSL
import Pintle
import PintleNIO
import PintleTestKit
import Testing

@Suite("The settings of TLS")
struct SettingsTests {
    private let policy: PinningPolicy
    private let root: NIOSSLCertificate

    init() throws {
        let fixture = try Fixture()
        policy = fixture.policy
        root = try NIOSSLCertificate(bytes: fixture.authority.certificate.der, format: .der)
    }

    @Test("Defaults become safe")
    func defaults() throws {
        let configuration = try PinnedTLS(policy: policy).configuration
        #expect(configuration.minimumTLSVersion == .tlsv12)
        #expect(configuration.certificateVerification == .noHostnameVerification)
        #expect(configuration.trustRoots == .certificates([]))
        let algorithms = try #require(configuration.verifySignatureAlgorithms)
        #expect(algorithms.contains(.ecdsaSecp256R1Sha256) && !algorithms.contains(.rsaPkcs1Sha1))
    }

    @Test("Safe settings are kept")
    func kept() throws {
        let configuration = try tls {
            $0.minimumTLSVersion = .tlsv13
            $0.certificateVerification = .noHostnameVerification
            $0.trustRoots = .certificates([])
            $0.applicationProtocols = ["h2"]
            $0.verifySignatureAlgorithms = [.ed25519]
        }.configuration
        #expect(configuration.minimumTLSVersion == .tlsv13)
        #expect(configuration.applicationProtocols == ["h2"])
        #expect(configuration.verifySignatureAlgorithms == [.ed25519])
        #expect(try tls { $0.maximumTLSVersion = .tlsv12 }.configuration.maximumTLSVersion == .tlsv12)
    }

    @Test("A setting that contradicts the policy is refused by name", arguments: PinnedTLSError.Setting.allCases)
    func refused(setting: PinnedTLSError.Setting) throws {
        for change in changes(setting) {
            let error = #expect(throws: PinnedTLSError.self) { try tls(change) }
            #expect(error == .refusedSetting(setting))
            #expect(error?.description.hasPrefix("TLSConfiguration.\(setting.rawValue): ") == true)
        }
    }

    private func tls(_ change: (inout TLSConfiguration) -> Void) throws -> PinnedTLS {
        var configuration = TLSConfiguration.makeClientConfiguration()
        change(&configuration)
        return try PinnedTLS(policy: policy, configuration: configuration)
    }

    private func changes(_ setting: PinnedTLSError.Setting) -> [(inout TLSConfiguration) -> Void] {
        switch setting {
        case .certificateVerification:
            [{ $0.certificateVerification = .none }, { $0.certificateVerification = .optionalVerification }]
        case .maximumTLSVersion:
            [
                { $0.maximumTLSVersion = .tlsv1 }, { $0.maximumTLSVersion = .tlsv11 },
                {
                    $0.minimumTLSVersion = .tlsv13
                    $0.maximumTLSVersion = .tlsv12
                },
            ]
        case .verifySignatureAlgorithms:
            [
                { $0.verifySignatureAlgorithms = [.rsaPkcs1Sha256, .rsaPkcs1Sha1] },
                { $0.verifySignatureAlgorithms = [.ecdsaSha1] },
            ]
        case .trustRoots: [{ $0.trustRoots = .certificates([root]) }, { $0.trustRoots = .file("/roots.pem") }]
        case .additionalTrustRoots: [{ $0.additionalTrustRoots = [.certificates([root])] }]
        case .renegotiationSupport: [{ $0.renegotiationSupport = .once }, { $0.renegotiationSupport = .always }]
        case .pskClientProvider:
            [
                {
                    $0.pskClientProvider = { _ in
                        PSKClientIdentityResponse(key: NIOSSLSecureBytes([1]), identity: "client")
                    }
                }
            ]
        }
    }
}
