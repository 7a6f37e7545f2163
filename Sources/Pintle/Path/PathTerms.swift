/// Terms of a rule about the shape of the validated path, beside its pins.
///
/// They are checked on every connection after the path is valid and before pins are compared.
package struct PathTerms: Sendable, Hashable {
    /// The lowest number of certificates on the path, leaf and anchor counted; `nil` for no bound.
    package var minimumLength: Int?
    /// The key of the certificate that has issued the leaf; `nil` for any.
    package var issuerKey: PublicKeyPin?

    package init(minimumLength: Int? = nil, issuerKey: PublicKeyPin? = nil) {
        self.minimumLength = minimumLength
        self.issuerKey = issuerKey
    }

    package static let none = PathTerms()

    /// The lengths that a rule may ask for. The search on Linux builds no path of more than 10 certificates by itself;
    /// paths of public servers have 2 to 5.
    package static let lengths = 1...10

    package var isEmpty: Bool { minimumLength == nil && issuerKey == nil }

    /// Returns the key of the first term that another rule has and these terms drop or lower; `nil` for none. Another
    /// issuer's key in the place of one does neither.
    package func firstLoosened(from other: PathTerms) -> String? {
        if isShorter(than: other) { return "minimumPathLength" }
        return dropsIssuer(of: other) ? "issuerKey" : nil
    }

    /// Returns whether paths may be shorter than under the other terms. Every path has one certificate.
    package func isShorter(than other: PathTerms) -> Bool { (minimumLength ?? 1) < (other.minimumLength ?? 1) }

    /// Returns whether any issuer may sign where under the other terms one had to.
    package func dropsIssuer(of other: PathTerms) -> Bool { other.issuerKey != nil && issuerKey == nil }
}
