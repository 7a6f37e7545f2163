/// A kind of requirement that a rule makes of the validated path, apart from its pins. It has the name of its key in
/// the policy file.
///
/// Terms are checked and listed in this order. The switches over this type have the check of a term, its comparison and
/// its words, so the compiler names each place that a new term needs.
package enum PathTerm: Sendable, CaseIterable, Comparable {
    case minimumPathLength, issuerKey
}

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

    /// The values that a rule may set as the minimum length. The path search on Linux builds paths of at most 10
    /// certificates; paths of public servers have 2 to 5.
    package static let lengths = 1...10

    /// The terms that can refuse a path. A minimum length of 1 refuses none.
    package var effective: [PathTerm] { PathTerms().loosened(from: self) }

    /// Returns the terms of another rule that these terms drop or lower. Requiring another issuer's key does not count
    /// as dropping the term.
    package func loosened(from other: PathTerms) -> [PathTerm] {
        PathTerm.allCases.filter { isLooser($0, than: other) }
    }

    private func isLooser(_ term: PathTerm, than other: PathTerms) -> Bool {
        switch term {
        case .minimumPathLength: (minimumLength ?? 1) < (other.minimumLength ?? 1)
        case .issuerKey: issuerKey == nil && other.issuerKey != nil
        }
    }
}
