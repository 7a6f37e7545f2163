/// A rule's requirements on the validated path, apart from its pins.
///
/// They are checked on every connection, after the path is valid and before pins are compared.
package struct PathTerms: Sendable, Hashable {
    /// The minimum number of certificates on the path, including leaf and anchor; `nil` for no minimum.
    package var minimumLength: Int?
    /// The required key of the leaf's issuer; `nil` for any.
    package var issuerKey: PublicKeyPin?

    package init(minimumLength: Int? = nil, issuerKey: PublicKeyPin? = nil) {
        self.minimumLength = minimumLength
        self.issuerKey = issuerKey
    }

    package static let none = PathTerms()

    /// The values that a rule may set as the minimum length. The path search on Linux builds paths of at most 10
    /// certificates; paths of public servers have 2 to 5.
    package static let lengths = 1...10

    package var isEmpty: Bool { minimumLength == nil && issuerKey == nil }

    /// Returns the file key of the first term of another rule that these terms drop or lower; `nil` if there is none.
    /// Requiring another issuer's key does not count as dropping the term.
    package func firstLoosened(from other: PathTerms) -> String? {
        if isShorter(than: other) { return "minimumPathLength" }
        return dropsIssuer(of: other) ? "issuerKey" : nil
    }

    /// Returns whether these terms allow shorter paths than the other terms. A missing minimum counts as 1.
    package func isShorter(than other: PathTerms) -> Bool { (minimumLength ?? 1) < (other.minimumLength ?? 1) }

    /// Returns whether these terms allow any issuer and the other terms require a certain one.
    package func dropsIssuer(of other: PathTerms) -> Bool { other.issuerKey != nil && issuerKey == nil }
}
