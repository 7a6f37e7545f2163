internal import Pintle
internal import PintleConsole
internal import PintleOpenSSL
internal import PintlePolicyTools
internal import PintleText

/// Explains the failure of a path in a sentence.
enum PathFailureText {
    static func sentence(_ failure: PathFailure, of facts: CheckFacts) -> String {
        let depth = failure.primary.depth ?? 0
        let now = facts.instant
        let place = facts.positions.place(atDepth: depth)
        let validity = place?.certificate?.validity
        let which = depth == 0 ? "The leaf certificate" : "The certificate at depth \(depth)"
        return switch failure.code {
        case .emptyChain: "The server sent no certificate."
        case .limitsExceeded: "The server sent more than the limits allow: \(failure.primary.text)."
        case .malformedCertificate: "\(which) cannot be read."
        case .invalidSignature: "\(which) carries a signature that its issuer's key did not make."
        case .selfSigned: "\(which) is signed by itself, and no trusted authority vouches for it."
        case .untrustedRoot: "The path does not lead to a root that is trusted here."
        case .notACA: "\(which) signs another one, and is not an authority."
        case .pathLengthExceeded: "There are more authorities on the path than one of them allows below it."
        case .nameConstraintViolation: "An authority on the path may not vouch for this name."
        case .unhandledCriticalExtension: "\(which) has a critical extension that the validation does not process."
        case .noValidCertificatePolicy:
            failure.primary.depth == nil
                ? "A certificate on the path requires a certificate policy, and none is valid on the whole path."
                : "\(which) has certificate policies that cannot be read or contradict themselves."
        case .unsuitablePurpose: "\(which) is not for TLS servers."
        case .weakKey: "\(which) has \(place?.certificate?.keyFlaw ?? "a key that is too weak")."
        case .weakSignature: "\(which) is signed with an algorithm that is too weak."
        case .notYetValid:
            validity.map {
                "\(which) begins \(ValidityText.day($0.notBefore)), and it is \(ValidityText.day(now)) by the clock."
            } ?? "\(which) is not valid yet."
        case .expired:
            validity.map {
                "\(which) ended \(ValidityText.day($0.notAfter)), "
                    + "\(ValidityText.span(from: $0.notAfter, to: now)) ago by the clock."
            } ?? "\(which) has expired."
        case .nameMismatch where place?.certificate.map { ($0.subjectAlternativeNames ?? []).isEmpty } ?? false:
            "The certificate has no subject alternative name, and the common name does not count."
        case .nameMismatch: "The certificate is not for \(facts.endpoint.host)."
        case .other where facts.rejectsTerms:
            "The path is valid, and the rule asks for more: \(failure.primary.text)."
        case .other:
            failure.primary.depth == nil
                ? "The path could not be validated."
                : "\(which) breaks the profile that certificates have to keep: \(failure.primary.text)."
        }
    }

    /// `10 at depth 0: certificate has expired`
    static func raw(_ finding: PathFailure.Finding) -> String {
        let number = finding.platformCode.map { "X509_V_ERR \($0)" }
        let depth = finding.depth.map { "at depth \($0)" }
        let head = [number, depth].compactMap(\.self).joined(separator: " ")
        return head.isEmpty ? finding.text : "\(head): \(finding.text)"
    }
}

extension CheckFacts {
    /// A Boolean value that indicates whether the path is valid but does not meet the rule's terms about its length or
    /// the leaf's issuer.
    var rejectsTerms: Bool {
        guard case .rejected(.invalidPath) = evaluation.decision else { return false }
        return evaluation.path != nil
    }
}
