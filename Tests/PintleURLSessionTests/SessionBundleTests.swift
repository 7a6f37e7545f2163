import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

@testable import PintleResources
@testable import PintleStorage
@testable import PintleURLSession

/// Roots and pins that come with an app, as files and as resources.
@Suite("Pinned sessions: bundled certificates")
struct SessionBundleTests {
    private let directory: TemporaryDirectory
    private let home: Identity

    init() throws {
        directory = try TemporaryDirectory()
        home = try Identity.selfSigned(hosts: ["localhost"])
        try directory.write(home.certificate.pem, to: "App/roots/home.pem")
        try directory.write("{}", to: "App/settings.json")
    }

    private func load(_ policy: PinningPolicy, from identity: Identity) async throws -> String {
        let server = try LoopbackTLSServer(identity)
        do {
            return "\(try await URLSession.pinned(to: policy).data(from: try server.address()).0.count) bytes"
        } catch {
            #expect(server.requestByteCount == 0)
            return TrustRejection(underlying: error)?.reason ?? "\(error)"
        }
    }

    @Test("A self-signed server is reached through a bundled root, and another server is not")
    func selfSigned() async throws {
        let roots = try CertificateBundle(contentsOfFile: directory.path(of: "App/roots/home.pem"))
        let policy = try PinningPolicy { try PinnedHost("localhost", anchors: .only(roots)) }
        #expect(try await load(policy, from: home) == "3 bytes")
        #expect(try await load(policy, from: try .selfSigned(hosts: ["localhost"])) == "invalid-path")
        // Without the root the same server is refused.
        let without = try PinningPolicy(hosts: [])
        #expect(try await load(without, from: home) == "invalid-path")
    }

    @Test("The certificates of a bundle provide pins")
    func pins() async throws {
        let bundle = try CertificateBundle(contentsOfFolder: directory.path(of: "App/roots"))
        let other = try Identity.selfSigned(hosts: ["localhost"])
        let both = try CertificateBundle(pem: home.certificate.pem + other.certificate.pem)
        for pins in [bundle.publicKeyPins(), bundle.certificatePins(at: .leaf)] {
            let policy = try PinningPolicy {
                try PinnedHost("localhost", pins: pins, backup: .noneAccepted, anchors: .only(both))
            }
            #expect(try await load(policy, from: home) == "3 bytes")
            #expect(try await load(policy, from: other) == "pin-mismatch")
        }
    }

    @Test("Resources of a bundle are found by name, and all certificates of a folder at once")
    func resources() throws {
        let app = try #require(Bundle(path: directory.path(of: "App")))
        let der = home.certificate.der
        let named = try CertificateBundle(resource: "home", withExtension: "pem", subdirectory: "roots", in: app)
        #expect(named.certificates.map(\.der) == [der])
        #expect(try CertificateBundle(resourcesOf: app, subdirectory: "roots").certificates.map(\.der) == [der])

        let gone = #expect(throws: CertificateBundleError.self) {
            try CertificateBundle(resource: "gone", withExtension: "pem", in: app)
        }
        #expect(gone?.problems.map(\.file) == ["gone.pem"])
        // The top level has only a settings file, which does not count as a certificate.
        let none = #expect(throws: CertificateBundleError.self) { try CertificateBundle(resourcesOf: app) }
        #expect(none?.problems.map(\.message) == ["no certificate among the resources"])

        try directory.write(try PrivateKey().pem, to: "App/roots/old.crt")
        let bad = #expect(throws: CertificateBundleError.self) {
            try CertificateBundle(resourcesOf: app, subdirectory: "roots")
        }
        #expect(bad?.problems.map(\.message) == ["a PRIVATE KEY, not a CERTIFICATE"])
        #expect(bad?.problems.first?.file?.hasSuffix("/roots/old.crt") == true)
    }
}
