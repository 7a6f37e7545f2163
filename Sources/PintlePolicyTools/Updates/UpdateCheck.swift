internal import Pintle
internal import PintleText
internal import PintleUpdates

/// One of the checks that an app makes, in their order.
struct UpdateCheck {
    let name: String
    let codes: [UpdateError.Code]
    var needsBundledPolicy = false

    static let all: [UpdateCheck] = [
        UpdateCheck(name: "size", codes: [.tooLarge]),
        UpdateCheck(name: "envelope", codes: [.malformedEnvelope]),
        UpdateCheck(name: "signed", codes: [.invalidSignature, .thresholdNotMet]),
        UpdateCheck(name: "type", codes: [.unknownPayloadType]),
        UpdateCheck(name: "payload", codes: [.malformedPayload]),
        UpdateCheck(name: "version", codes: [.rollback]),
        UpdateCheck(name: "floor", codes: [.replacedVersion], needsBundledPolicy: true),
        UpdateCheck(name: "dates", codes: [.notYetIssued, .expired]),
        UpdateCheck(name: "scope", codes: [.outOfScope], needsBundledPolicy: true),
        UpdateCheck(name: "policy", codes: [.invalidPolicy]),
    ]
}

extension UpdateError.Reason {
    /// The meaning of the check.
    var explanation: String {
        switch self {
        case .tooLarge: "Nothing of it was read. An app stops reading there too."
        case .malformedEnvelope: "It is not a DSSE envelope, so there is no signature to check."
        case .invalidSignature:
            "It was changed, or signed by keys that this app does not trust, "
                + "or the signature belongs to another payload."
        case .thresholdNotMet: "The signatures that count are good. One key counts once, however often it signed."
        case .unknownPayloadType: "The signatures are good, but the payload is not a policy of this format."
        case .malformedPayload: "The signatures are good: the owner of the keys signed a broken payload."
        case .rollback(.some, _): "The signatures are good: this is a real update, served again."
        case .rollback(nil, _): "The signatures are good. The version is refused because no later one could follow."
        case .replacedVersion: "The signatures are good, and the number is taken: apps that have it would never change."
        case .notYetIssued: "The signatures are good. Its time has not come, or this clock is behind."
        case .expired: "The signatures are good. Apps that took it in time keep it; no app takes it now."
        case .outOfScope:
            "The signatures are good, but it does more than the policy that the app shipped with allows. Change the "
                + "policy of the update and sign it again, or ship the change with a release."
        case .invalidPolicy: "The signatures are good, but the policy in it cannot be used by the app."
        }
    }

    /// Every problem, because the line of the verdict has only the first; at most twenty.
    var details: [String] {
        let lines: [String] =
            switch self {
            case .outOfScope(let problems): problems.map { "\($0)" }
            case .invalidPolicy(let problems): problems.map { "\($0)" }
            default: []
            }
        guard lines.count > 1 else { return [] }
        return lines.prefix(20) + (lines.count > 20 ? ["and \(lines.count - 20) more"] : [])
    }

    /// Returns the remedies, each once, at most twenty.
    ///
    /// - Parameter path: the update as the user named it; `-` for standard input.
    func nextSteps(for path: String) -> [String] {
        switch self {
        case .outOfScope(let problems):
            var steps: [String] = []
            for problem in problems where steps.count < 20 && !steps.contains(problem.help) {
                steps.append(problem.help)
            }
            return steps
        default: return [nextStep(for: path)]
        }
    }

    private func nextStep(for path: String) -> String {
        let file = ShellWord.quoted(path)
        let output = path == "-" ? "UPDATE" : file
        return switch self {
        case .tooLarge: "cover sub-domains by includeSubdomains instead of naming them"
        case .malformedEnvelope: "make it with pintle sign, and serve it as it is, without a page around it"
        case .invalidSignature: "find out who signed: pintle inspect \(file), and compare with the id of --trusted"
        case .thresholdNotMet: "have another key sign: pintle sign --key OTHER --append \(file) -o \(output)"
        case .unknownPayloadType: "sign the policy with pintle sign; apps read \(SignedEnvelope.policyType)"
        case .malformedPayload: "sign the policy again with pintle sign"
        case .rollback(_, let floor):
            floor < UpdatePayload.maximumVersion
                ? "publish version \(floor + 1) or later; a client that refuses this works as designed"
                : "ship a release with new keys, which begins a new floor"
        case .replacedVersion(let version): "publish it as version \(version + 1) or later"
        case .notYetIssued: "wait, or sign it with an earlier --issued"
        case .expired: "sign the policy again under the next version, with a later --expires"
        case .outOfScope: "ship it with a release"
        case .invalidPolicy: "fix the policy (pintle lint), then sign it under the next version"
        }
    }
}
