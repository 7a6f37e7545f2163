internal import FoundationEssentials
internal import PintleTestKit

/// Extended key usages below roots of the system and below anchors of an app, and key usages.
extension TrustCase {
    static let emailProtection: DERWriter.OID = [1, 3, 6, 1, 5, 5, 7, 3, 4]

    private static let host = "example.com"
    private static let refused = Verdicts.refused("unsuitable-purpose", "errSecInvalidExtendedKeyUsage")
    private static let onlyApple = Verdicts.refused("accepted", "errSecInvalidExtendedKeyUsage")
    private static let onlyLinux = Verdicts("accepted", "unsuitable-purpose", "accepted")
    private static let noUsage = "Leaf without extended key usage"
    private static let anyUsage = "`anyExtendedKeyUsage`"

    /// A leaf below a root, issued before or after 1 July 2019, evaluated on 12 September 2019.
    private static func leaf(
        _ shape: String, _ usages: [DERWriter.OID]?, isLate: Bool, below anchor: Anchor, _ expected: Verdicts,
        difference: String = "", isOwnAnchor: Bool = false
    ) -> TrustCase {
        let text = "\(shape), issued \(isLate ? "after" : "before") July 2019"
        let instant = Date(timeIntervalSince1970: 1_568_307_200)
        return TrustCase(text, host: host, at: instant, anchor: anchor, expected, difference: difference) {
            let root = try CertificateAuthority.root(name: "Usage Test CA") {
                $0.basicConstraints = .init(isCA: true, pathLength: 0)
                $0.notBefore = .date(Date(timeIntervalSince1970: 1_556_156_750))
            }
            let begin: Double = isLate ? 1_562_032_538 : 1_556_156_910
            let identity = try root.issue(hosts: [host]) {
                $0.extendedKeyUsage = usages
                $0.notBefore = .date(Date(timeIntervalSince1970: begin))
                $0.notAfter = .date(Date(timeIntervalSince1970: begin + 365 * 86_400))
            }
            return isOwnAnchor ? Path(own: identity) : Path(identity, to: root)
        }
    }

    /// A leaf for servers below an authority, evaluated on 24 August 2020.
    private static func authority(
        _ shape: String, _ usages: [DERWriter.OID]?, below anchor: Anchor, _ expected: Verdicts,
        difference: String = ""
    ) -> TrustCase {
        let instant = Date(timeIntervalSince1970: 1_598_307_200)
        return TrustCase(shape, host: host, at: instant, anchor: anchor, expected, difference: difference) {
            func year(_ template: inout CertificateTemplate) {
                template.notBefore = .date(Date(timeIntervalSince1970: 1_594_252_894))
                template.notAfter = .date(Date(timeIntervalSince1970: 1_625_788_894))
            }
            let root = try CertificateAuthority.root(name: "Authority Usage Test Root") {
                $0.notBefore = .date(Date(timeIntervalSince1970: 1_594_248_421))
            }
            let authority = try root.intermediate {
                $0.extendedKeyUsage = usages
                year(&$0)
            }
            return Path(try authority.issue(hosts: [host]) { year(&$0) }, to: root)
        }
    }

    /// A leaf that is its own anchor, with a key usage, evaluated on 6 August 2021.
    private static func key(_ shape: String, _ usage: CertificateTemplate.KeyUsage?) -> TrustCase {
        TrustCase(shape, host: host, at: Date(timeIntervalSince1970: 1_628_307_200), .accepted) {
            Path(
                own: try .selfSigned(hosts: [host]) {
                    $0.basicConstraints = .init(isCA: false)
                    $0.keyUsage = usage
                    $0.extendedKeyUsage = [.serverAuth]
                    $0.notBefore = .date(Date(timeIntervalSince1970: 1_620_162_250))
                    $0.notAfter = .date(Date(timeIntervalSince1970: 1_651_698_250))
                })
        }
    }

    static let usages: [TrustCase] = [
        leaf(
            "root of the system, leaf without usages", nil, isLate: false, below: .system, onlyApple,
            difference: noUsage),
        leaf(
            "root of the system, leaf for any usage", [.anyExtendedKeyUsage], isLate: false, below: .system, refused),
        leaf(
            "root of the system, leaf for servers and clients", [.serverAuth, .clientAuth], isLate: false,
            below: .system, .accepted),
        authority("root of the system, authority without usages", nil, below: .system, .accepted),
        authority(
            "root of the system, authority for any usage", [.anyExtendedKeyUsage], below: .system, onlyLinux,
            difference: anyUsage),
        authority("root of the system, authority for servers", [.serverAuth], below: .system, .accepted),
        authority("root of the system, authority for mail", [emailProtection], below: .system, refused),
        authority("anchor of the app, authority for mail", [emailProtection], below: .app, refused),
        leaf(
            "anchor of the app, leaf for any usage", [.anyExtendedKeyUsage], isLate: false, below: .app, onlyLinux,
            difference: anyUsage),
        leaf(
            "anchor of the app, leaf without usages", nil, isLate: true, below: .app, onlyApple, difference: noUsage),
        leaf("anchor of the app, leaf for any usage", [.anyExtendedKeyUsage], isLate: true, below: .app, refused),
        leaf(
            "anchor of the app, leaf for servers and clients", [.serverAuth, .clientAuth], isLate: true, below: .app,
            .accepted),
        leaf(
            "leaf without usages that is its own anchor", nil, isLate: true, below: .app, onlyApple,
            difference: noUsage, isOwnAnchor: true),
        key("leaf without key usage that is its own anchor", nil),
        key("leaf for signatures that is its own anchor", .digitalSignature),
        key("leaf for signatures and for certificates", [.digitalSignature, .keyCertSign]),
    ]
}
