/// The roots that a path may end in.
public struct TrustAnchors: Sendable, Hashable {
    /// Private anchors, beside the system's or instead of them.
    public let certificates: [Certificate]
    /// Whether the roots that the system trusts count.
    public let includesSystem: Bool
    /// One per value that was made: adapters keep what they built from an anchor set under it.
    package let identity: Identity

    package final class Identity: Sendable {
        init() {}
    }

    /// Anchors of both kinds. An intermediate may be an anchor, and so may a server's own certificate.
    public init(_ certificates: [Certificate] = [], includesSystem: Bool) {
        self.certificates = certificates
        self.includesSystem = includesSystem
        identity = Identity()
    }

    /// The roots that the system trusts.
    public static let system = TrustAnchors(includesSystem: true)

    /// These roots and no others.
    public static func only(_ certificates: [Certificate]) -> TrustAnchors {
        TrustAnchors(certificates, includesSystem: false)
    }

    /// The certificates of a file or folder, beside the system's roots or instead of them.
    public init(_ bundle: CertificateBundle, includesSystem: Bool) {
        self.init(bundle.certificates, includesSystem: includesSystem)
    }

    /// The roots of this bundle and no others.
    public static func only(_ bundle: CertificateBundle) -> TrustAnchors {
        TrustAnchors(bundle, includesSystem: false)
    }

    /// Returns true where the certificates and the use of the system's are the same.
    public static func == (left: TrustAnchors, right: TrustAnchors) -> Bool {
        left.includesSystem == right.includesSystem && left.certificates == right.certificates
    }

    /// Hashes the certificates and the use of the system's.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(includesSystem)
        hasher.combine(certificates)
    }
}
