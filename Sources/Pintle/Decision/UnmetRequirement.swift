/// The reason why a validated path does not meet ``TrustEvaluation/require(minimumPathLength:issuerKey:)`` or the terms
/// of its rule.
package enum UnmetRequirement: Error, Hashable {
    /// The evaluation holds no validated path.
    case noPath
    /// The path has fewer certificates than required. The first value is their number, including leaf and anchor.
    case pathTooShort(Int, minimum: Int)
    /// The leaf's issuer has another key than required. The key is `nil` if the path has no certificate above the leaf
    /// or that certificate's key cannot be read.
    case otherIssuer(PublicKeyPin?, required: PublicKeyPin)
    /// The key of the certificate at this depth cannot be read. The leaf has depth 0.
    case unreadableCertificate(depth: Int)
    /// The evaluation says that this pin matched, but the certificate at that depth has another key or fingerprint.
    case pinNotOnPath(Pin)
}

extension UnmetRequirement: CustomStringConvertible {
    /// The unmet requirement, on one line.
    package var description: String {
        switch self {
        case .noPath: "no path was validated"
        case .pathTooShort(let count, let minimum):
            "minimumPathLength is \(minimum), and the path has "
                + (count == 1 ? "1 certificate" : "\(count) certificates") + ", leaf and anchor counted"
        case .otherIssuer(let served?, let required):
            "issuerKey is \(required), and the leaf's issuer on the path has \(served)"
        case .otherIssuer(nil, let required):
            "issuerKey is \(required), and the path has no readable certificate above the leaf"
        case .unreadableCertificate(let depth): "the certificate at depth \(depth) cannot be read"
        case .pinNotOnPath(let pin): "\(pin) is said to have matched, and is not where it is said to be"
        }
    }
}

extension TrustRejection {
    /// Returns the refusal of a path that does not meet a requirement.
    package static func unmet(_ requirement: UnmetRequirement) -> TrustRejection {
        .invalidPath(PathFailure(.other, text: requirement.description))
    }
}

extension PathTerms {
    /// Returns the first term that the path does not meet; `nil` if it meets all terms.
    func unmet(by path: ValidatedPath) -> UnmetRequirement? {
        for term in PathTerm.allCases {
            if let unmet = unmet(term, by: path) { return unmet }
        }
        return nil
    }

    private func unmet(_ term: PathTerm, by path: ValidatedPath) -> UnmetRequirement? {
        switch term {
        case .minimumPathLength:
            guard let minimumLength, path.count < minimumLength else { return nil }
            return .pathTooShort(path.count, minimum: minimumLength)
        case .issuerKey:
            guard let issuerKey else { return nil }
            // A path that consists only of the leaf has no issuer, so it meets no term about the issuer.
            let served = path.count > 1 ? path.publicKeyPin(at: 1) : nil
            return served == issuerKey ? nil : .otherIssuer(served, required: issuerKey)
        }
    }
}
