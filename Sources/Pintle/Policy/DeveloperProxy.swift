// This API exists only in debug builds. It has no counterpart in policy files or updates: a developer who debugs an app
// through a proxy calls it in Swift. `make test` proves that release builds contain nothing of it. File names stay in
// release builds, so this file is not named after the API.
#if DEBUG
extension PinningPolicy {
    /// Returns this policy for a debug build whose connections go through the developer's own proxy.
    ///
    /// Paths to hosts that a rule or the system decides about may also end at these anchors. Such a path skips the pins
    /// and the rule's terms about the path: the decision is `host-not-pinned`. Everything else stays in force.
    /// Signatures, dates and names are validated, hosts that the policy does not allow are refused, and unknown hosts
    /// still need the user's approval.
    ///
    ///     #if DEBUG
    ///     policy = policy.trusting(debugAnchors: try CertificateBundle(contentsOfFile: "proxy.pem").certificates)
    ///     #endif
    ///
    /// The method exists if this package is compiled with the compilation condition `DEBUG`, as in debug builds of
    /// Xcode and SwiftPM. A release build of your own code does not compile if it calls the method outside `#if DEBUG`.
    ///
    /// - Parameter certificates: the roots of the proxy. They replace those of an earlier call.
    public func trusting(debugAnchors certificates: [Certificate]) -> PinningPolicy {
        var policy = self
        policy.debugAnchors = DebugAnchors(certificates, beside: anchors)
        return policy
    }
}

/// The anchors of a developer's proxy, combined with those of each rule.
///
/// The combinations are computed once for a policy, because adapters cache what they build under the identity of an
/// anchor set.
struct DebugAnchors: Sendable {
    private let certificates: Set<[UInt8]>
    /// The combined anchors, by the identity of the anchors in the policy.
    private var combined: [ObjectIdentifier: TrustAnchors] = [:]

    init(_ certificates: [Certificate], beside anchors: some Sequence<TrustAnchors>) {
        self.certificates = Set(certificates.map(\.der))
        for own in anchors where combined[ObjectIdentifier(own.identity)] == nil {
            combined[ObjectIdentifier(own.identity)] = TrustAnchors(
                own.certificates + certificates, includesSystem: own.includesSystem)
        }
    }

    /// Returns the proxy's anchors combined with some of the policy's.
    func anchors(beside own: TrustAnchors) -> TrustAnchors { combined[ObjectIdentifier(own.identity)] ?? own }

    func areEnd(of path: ValidatedPath) -> Bool { path.certificates.last.map(certificates.contains) ?? false }
}
#endif
