import Pintle
import PintleTestKit
import Testing

@testable import PintleOpenSSL
@testable import PintleTLSClient

@Suite(
    "Keys that OpenSSL does not know",
    .enabled(if: !KeyType.mlDSA44.isAvailable, "skipped: this OpenSSL knows ML-DSA"))
struct UnknownAlgorithmTests {
    /// A key of ML-DSA-44 (RFC 9881).
    private static let key: [UInt8] = {
        let name: [UInt8] = [0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03, 0x11]
        let bits: [UInt8] = [0x03, 0x82, 0x05, 0x21, 0] + [UInt8](repeating: 7, count: 1_312)
        return [0x30, 0x82, 0x05, 0x32] + name + bits
    }()

    @Test(
        "A path that fails because of an ML-DSA key says so, for a leaf as for an authority", arguments: [true, false])
    func text(isLeaf: Bool) throws {
        let root = try CertificateAuthority.root(name: "Root")
        let authority = try root.intermediate { if !isLeaf { $0.subjectPublicKeyInfo = Self.key } }
        let identity = try authority.issue(hosts: [Validation.host]) {
            if isLeaf { $0.subjectPublicKeyInfo = Self.key }
        }
        let decision = try Validation.decide(identity.chain, anchors: [root.certificate])
        guard case .rejected(.invalidPath(let failure)) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(failure.primary.text.hasSuffix("needs OpenSSL 3.5, and here is \(openSSLVersion)"))
        #expect(failure.code == (isLeaf ? .weakKey : .invalidSignature) || failure.code == .untrustedRoot)
        // The twin has keys that OpenSSL knows. The certificate that the server adds is not on its path.
        let other = try CertificateAuthority.root(name: "Other").issue(hosts: [Validation.host])
        let stray = (isLeaf ? identity : try root.issue(hosts: ["x.test"])).chain + identity.chain
        let unknown = try Validation.decide(
            other.chain + stray, anchors: [try PintleTestKit.CertificateAuthority.root(name: "Third").certificate])
        #expect(unknown.summary == "invalid-path untrusted-root" && !"\(unknown)".contains("ML-DSA"))
    }
}
