public import Pintle

extension TrustReceipt {
    /// A second look at the path that was decided on, after the response and away from the handshake.
    ///
    /// Every certificate of the path is read and hashed again; nothing that the handshake found out is taken on trust.
    /// Where a pin decided, it is compared once more with the certificate that it is said to have matched.
    ///
    ///     guard let receipt = response.trustReceipt else { throw URLError(.secureConnectionFailed) }
    ///     try receipt.require(minimumPathLength: 3, issuerKey: PublicKeyPin("sha256/..."))
    ///
    /// It finds an interceptor that was let in by a tool which switched the handshake's check off but does not know of
    /// this look. A tool can switch off both: the second look raises its cost, and no more.
    ///
    /// - Parameters:
    ///   - minimumPathLength: certificates on the path, leaf and anchor counted. An interceptor often signs directly with
    ///     its root, which makes a path of 2. Less than 1 counts as 1.
    ///   - issuerKey: the key of the certificate that has issued the leaf, the next one on the path; `nil` for any.
    /// - Throws: the first requirement that is not met.
    public func require(
        minimumPathLength: Int, issuerKey: PublicKeyPin? = nil
    ) throws(PathRequirementError) {
        try path.require(minimumLength: minimumPathLength, issuerKey: issuerKey, basis: basis)
    }
}
