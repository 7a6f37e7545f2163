/// The reason why a validated path does not meet ``TrustEvaluation/require(minimumPathLength:issuerKey:)``, or the terms
/// of its rule.
public enum PathRequirementError: Error, Sendable, Hashable {
    /// The server was refused; a path that was not trusted meets no requirement.
    case rejected(TrustRejection)
    /// Nothing was validated.
    case noPath
    /// The path has so many certificates, leaf and anchor counted, which are fewer than required.
    case pathTooShort(Int, minimum: Int)
    /// The key of the leaf's issuer is another than required; `nil` where the path has no certificate above the leaf, or
    /// one whose key cannot be read.
    case otherIssuer(PublicKeyPin?, required: PublicKeyPin)
    /// The key of a certificate cannot be read; 0 is the leaf.
    case unreadableCertificate(depth: Int)
    /// This pin is said to have matched, and the certificate at that place has another key or fingerprint.
    case pinNotOnPath(Pin)
}

extension PathRequirementError: CustomStringConvertible {
    /// One line, which names the term that is not met.
    public var description: String {
        switch self {
        case .rejected(let rejection): "the server was refused: \(rejection)"
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

extension PathTerms {
    /// Returns what the path lacks, the first that is found; `nil` where it meets the terms.
    ///
    /// A path that consists of the leaf only has no issuer, so it meets no term about one.
    func unmet(by path: ValidatedPath) -> PathRequirementError? {
        if let minimumLength, path.certificates.count < minimumLength {
            return .pathTooShort(path.certificates.count, minimum: minimumLength)
        }
        guard let issuerKey else { return nil }
        let served = path.certificates.dropFirst().first.flatMap { PublicKeyPin(sliceOf: $0) }
        return served == issuerKey ? nil : .otherIssuer(served, required: issuerKey)
    }
}
