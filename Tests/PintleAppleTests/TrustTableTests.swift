import Foundation
import Pintle
import PintleTestKit
import Security
import Testing
import TrustTables

/// The cases of Apple's tests, decided by `SecTrustEvaluateWithError` of the stand-in.
@Suite("Apple: cases of Apple's tests")
struct TrustTableTests {
    @Test("The stand-in has the verdict of the table, and it is the one that Apple expects", arguments: TrustCase.all)
    func verdict(_ item: TrustCase) throws {
        let path = try item.path()
        if !item.pins.isEmpty {
            let plist = try item.infoPlist(path) { key in
                let pin = try PublicKeyPin(subjectPublicKeyInfo: key).description
                return String(pin.dropFirst("sha256/".count))
            }
            try StandIn.addInfoPlist(Data(plist.utf8))
        }
        let found = try Self.name(of: Self.status(item, path))
        #expect(found == item.expected.standIn)
        #expect((found == "accepted") == (item.expected.apple == "accepted"))
    }

    private static func status(_ item: TrustCase, _ path: TrustCase.Path) throws -> OSStatus {
        let chain = path.chain.compactMap { SecCertificateCreateWithData(nil, Data($0)) }
        let anchor = try #require(SecCertificateCreateWithData(nil, Data(path.anchor.der)))
        var trust: SecTrust?
        let status = SecTrustCreateWithCertificates(chain, SecPolicyCreateSSL(true, item.host), &trust)
        #expect(status == errSecSuccess && chain.count == path.chain.count)
        let made = try #require(trust)
        switch item.anchor {
        case .system: StandIn.addSystemAnchor(path.anchor.der)
        case .app: #expect(SecTrustSetAnchorCertificates(made, [anchor]) == errSecSuccess)
        }
        #expect(SecTrustSetVerifyDate(made, item.instant) == errSecSuccess)
        var error: CFError?
        guard !SecTrustEvaluateWithError(made, &error) else { return errSecSuccess }
        return OSStatus(truncatingIfNeeded: CFErrorGetCode(error))
    }

    private static func name(of status: OSStatus) throws -> String {
        let names: [OSStatus: String] = [
            errSecSuccess: "accepted", errSecHostNameMismatch: "errSecHostNameMismatch",
            errSecInvalidExtendedKeyUsage: "errSecInvalidExtendedKeyUsage", errSecInvalidName: "errSecInvalidName",
            errSecNoBasicConstraints: "errSecNoBasicConstraints",
            errSecNoBasicConstraintsCA: "errSecNoBasicConstraintsCA",
            errSSLATSCertificateTrustViolation: "errSSLATSCertificateTrustViolation",
        ]
        return names[status] ?? "\(status)"
    }
}
