/// The roots that a path may end at.
public struct TrustAnchors: Sendable, Hashable {
    /// Private anchors, in addition to the system's roots or instead of them.
    public let certificates: [Certificate]
    /// A Boolean value that indicates whether the roots that the system trusts count too.
    public let includesSystem: Bool
    /// An identity that is unique to this value and its copies. Adapters use it as the key under which they cache what
    /// they build from the anchors.
    package let identity: Identity

    package final class Identity: Sendable {
        init() {}
    }

    /// Creates a set of anchors. An intermediate can be an anchor, and so can a server's own certificate.
    public init(_ certificates: [Certificate] = [], includesSystem: Bool) {
        self.certificates = certificates
        self.includesSystem = includesSystem
        identity = Identity()
    }

    /// The roots that the system trusts.
    public static let system = TrustAnchors(includesSystem: true)

    /// Returns only these anchors, without the system's roots.
    public static func only(_ certificates: [Certificate]) -> TrustAnchors {
        TrustAnchors(certificates, includesSystem: false)
    }

    /// Creates anchors from the certificates of a bundle, in addition to the system's roots or instead of them.
    public init(_ bundle: CertificateBundle, includesSystem: Bool) {
        self.init(bundle.certificates, includesSystem: includesSystem)
    }

    /// Returns only the anchors of this bundle, without the system's roots.
    public static func only(_ bundle: CertificateBundle) -> TrustAnchors {
        TrustAnchors(bundle, includesSystem: false)
    }

    /// Returns true if the certificates and the use of the system's roots are equal.
    public static func == (left: TrustAnchors, right: TrustAnchors) -> Bool {
        left.includesSystem == right.includesSystem && left.certificates == right.certificates
    }

    /// Hashes the certificates and the use of the system's roots.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(includesSystem)
        hasher.combine(certificates)
    }
}
