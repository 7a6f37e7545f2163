// The name of this file stays in release builds, so it is not that of what is in it. Not in a release build, nor in a
// policy file or an update: whoever debugs an app through a proxy writes it in Swift, and `make test` proves that a
// release build knows nothing of it.
#if DEBUG
extension PinningPolicy {
    /// This policy for a debug build whose connections go through a proxy that the developer runs.
    ///
    /// Paths may end in these anchors too, for every host, and a path that does skips the pins and the
    /// rule's terms about the path: the decision is `host-not-pinned`. Everything else stays: signatures, dates and names are validated, hosts that the policy
    /// does not allow are refused, and unknown ones are still asked about.
    ///
    ///     #if DEBUG
    ///     policy = policy.trusting(debugAnchors: try CertificateBundle(contentsOfFile: "proxy.pem").certificates)
    ///     #endif
    ///
    /// It exists where the compilation condition `DEBUG` is set when this package is compiled, as in debug builds of
    /// Xcode and of SwiftPM. Where your own code calls it outside of `#if DEBUG`, a release build does not compile.
    ///
    /// - Parameter certificates: the roots of the proxy; they take the place of those given before.
    public func trusting(debugAnchors certificates: [Certificate]) -> PinningPolicy {
        var policy = self
        policy.debugAnchors = DebugAnchors(certificates, beside: storage.terms.map(\.terms.anchors))
        return policy
    }
}

/// Anchors of a developer's proxy, and those of each rule with them.
///
/// Made once for a policy: adapters keep what they build from an anchor set under its identity.
struct DebugAnchors: Sendable {
    private let certificates: Set<[UInt8]>
    /// In the order of the policy's terms.
    private let besideRules: [TrustAnchors]
    private let besideSystem: TrustAnchors

    init(_ certificates: [Certificate], beside rules: [TrustAnchors]) {
        func joined(_ anchors: TrustAnchors) -> TrustAnchors {
            TrustAnchors(anchors.certificates + certificates, includesSystem: anchors.includesSystem)
        }
        self.certificates = Set(certificates.map(\.der))
        besideRules = rules.map(joined)
        besideSystem = joined(.system)
    }

    /// - Parameter terms: the index of a rule's terms; `nil` for hosts without a rule.
    func anchors(ofTerms terms: Int?) -> TrustAnchors { terms.map { besideRules[$0] } ?? besideSystem }

    func areEnd(of path: ValidatedPath) -> Bool { path.certificates.last.map(certificates.contains) ?? false }
}
#endif
