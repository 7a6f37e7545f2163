internal import FoundationEssentials
internal import Pintle
internal import PintleUpdates

/// The output of `verify`: the verdict first, the advice last.
struct VerifyReport {
    let outcome: Result<VerifiedUpdate, UpdateRejection>
    let trust: UpdateTrust
    let bundled: PinningPolicy?
    let instant: Date
    let invocation: Invocation

    var isAccepted: Bool { if case .success = outcome { true } else { false } }

    private var console: Console { invocation.console }

    // MARK: Text

    func print() {
        switch outcome {
        case .success(let update): print(update)
        case .failure(let rejection): print(rejection)
        }
    }

    func printUnchecked() {
        guard bundled == nil else { return }
        console.warn("scope and floor were not checked: --bundled POLICY is what they are measured against")
    }

    private func print(_ update: VerifiedUpdate) {
        let hosts = ValidityText.counted(update.policy.hosts.count, "host")
        console.print("\(console.palette.good("accepted"))   version \(update.version)   \(hosts)")
        console.print()
        printSigners(update.signers)
        let left = ValidityText.span(from: instant, to: update.expiresAt)
        field("issued", "\(day(update.issuedAt)), expires \(day(update.expiresAt)) (\(left) left)")
        if let bundled {
            let known = bundled.updateVersion
            field("replaces", known == 0 ? "the bundled policy, which equals no update" : "version \(known)")
            for (index, change) in PolicyChanges.lines(from: bundled, to: update.policy).enumerated() {
                field(index == 0 ? "changes" : "", change)
            }
        }
        for name in update.ignoredMembers { field("ignored", "the payload's \(JSONWriter.quoted(name))") }
        printChecks(until: nil)
        console.print()
        console.print(
            trust.keys.count == 1
                ? "next: publish it. One key is trusted: ship a second one in the next release" : "next: publish it")
    }

    private func print(_ rejection: UpdateRejection) {
        let failure = rejection.failure
        let palette = console.palette
        console.print("\(palette.bad("REJECTED"))   \(failure.code.rawValue)   \(SafeText.escape("\(failure)"))")
        console.print()
        for line in TextLayout.wrapped(failure.explanation, width: min(console.width, 90) - 2) {
            console.print("  " + line)
        }
        for line in failure.details { console.print("  " + SafeText.escape(line)) }
        if !rejection.signers.isEmpty {
            console.print()
            printSigners(rejection.signers)
        }
        printChecks(until: failure.code)
        console.print()
        console.print("next: \(failure.nextStep)")
    }

    private func printSigners(_ signers: [UpdateKey]) {
        for (index, key) in signers.enumerated() {
            let count = "   \(signers.count) of \(trust.threshold) needed"
            field(index == 0 ? "signed" : "", key.id + (index == signers.count - 1 ? count : ""))
        }
    }

    private func field(_ label: String, _ value: String) {
        console.print("  " + TextLayout.padded(label, to: 10) + value)
    }

    private func day(_ date: Date) -> String { ValidityText.day(date) }

    /// Prints, with `--verbose`, every check in its order, up to the one that failed.
    private func printChecks(until code: UpdateFailure.Code?) {
        guard invocation.isVerbose else { return }
        console.print()
        for check in UpdateCheck.all {
            let isSkipped = bundled == nil && check.needsBundledPolicy
            let hasFailed = code.map(check.codes.contains) ?? false
            let word = hasFailed ? console.palette.bad("x") : isSkipped ? "not checked" : console.palette.good("ok")
            field(check.name, word)
            if hasFailed { break }
        }
    }

    // MARK: JSON

    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("result", isAccepted ? "accepted" : "rejected")
            switch outcome {
            case .success(let update): write(update, to: &json)
            case .failure(let rejection): write(rejection, to: &json)
            }
            json.member("threshold", trust.threshold)
            if bundled == nil { json.member("notChecked", ["floor", "scope"]) }
        }
        return json
    }

    private func write(_ update: VerifiedUpdate, to json: inout JSONWriter) {
        json.member("version", update.version)
        json.member("keyids", update.signers.map(\.id))
        json.member("issuedAt", RFC3339.string(from: update.issuedAt))
        json.member("expiresAt", RFC3339.string(from: update.expiresAt))
        json.member("hosts", update.policy.hosts.map(\.description))
        if bundled != nil { json.member("isUnchanged", update.isUnchanged) }
        if !update.ignoredMembers.isEmpty { json.member("ignoredMembers", update.ignoredMembers) }
    }

    private func write(_ rejection: UpdateRejection, to json: inout JSONWriter) {
        let failure = rejection.failure
        json.member("error", failure.code.rawValue)
        json.member("version", rejection.version)
        json.member("keyids", rejection.signers.map(\.id))
        json.member("message", "\(failure)")
        json.member("next", failure.nextStep)
        switch failure {
        case .rollback(_, let floor): json.member("minimumVersion", floor)
        case .notYetIssued(let date): json.member("issuedAt", RFC3339.string(from: date))
        case .expired(let date): json.member("expiresAt", RFC3339.string(from: date))
        case .outOfScope(let violations):
            json.array("violations") { json in
                for violation in violations {
                    json.object {
                        $0.member("path", violation.path)
                        $0.member("message", violation.message)
                    }
                }
            }
        case .invalidPolicy(let problems):
            json.array("problems") { json in
                for problem in problems {
                    json.object {
                        $0.member("id", problem.id)
                        $0.member("path", problem.path)
                        $0.member("message", problem.message)
                        $0.member("help", problem.help)
                    }
                }
            }
        default: break
        }
    }
}

/// One of the checks that an app makes, in their order.
struct UpdateCheck {
    let name: String
    let codes: [UpdateFailure.Code]
    var needsBundledPolicy = false

    static let all: [UpdateCheck] = [
        UpdateCheck(name: "size", codes: [.tooLarge]),
        UpdateCheck(name: "envelope", codes: [.malformedEnvelope]),
        UpdateCheck(name: "signed", codes: [.invalidSignature, .thresholdNotMet]),
        UpdateCheck(name: "type", codes: [.unknownPayloadType]),
        UpdateCheck(name: "payload", codes: [.malformedPayload]),
        UpdateCheck(name: "version", codes: [.rollback, .replacedVersion]),
        UpdateCheck(name: "dates", codes: [.notYetIssued, .expired]),
        UpdateCheck(name: "scope", codes: [.outOfScope], needsBundledPolicy: true),
        UpdateCheck(name: "policy", codes: [.invalidPolicy]),
    ]
}

extension UpdateFailure {
    /// The meaning of the check.
    var explanation: String {
        switch self {
        case .tooLarge: "Nothing of it was read. An app stops reading there too."
        case .malformedEnvelope: "It is not a DSSE envelope, so there is no signature to look at."
        case .invalidSignature:
            "It was changed, or signed by keys that this app does not trust, or the signature belongs to another payload."
        case .thresholdNotMet: "The signatures that count are good. One key counts once, however often it signed."
        case .unknownPayloadType: "The signatures are good, but over something else than a policy of this format."
        case .malformedPayload: "The signatures are good: whoever holds the keys signed a broken payload."
        case .rollback(.some, _): "The signatures are good: this is a real update, served again."
        case .rollback(nil, _): "The signatures are good. A version that nothing can follow is not taken."
        case .replacedVersion: "The signatures are good, and the number is taken: apps that have it would never change."
        case .notYetIssued: "The signatures are good. Its time has not come, or this clock is behind."
        case .expired: "The signatures are good. Apps that took it in time keep it; no app takes it now."
        case .outOfScope: "The signatures are good, but it does more than the policy that the app shipped with allows."
        case .invalidPolicy: "The signatures are good, but the policy in it cannot be used by the app."
        }
    }

    /// Every problem, because the line of the verdict has only the first; at most twenty.
    var details: [String] {
        let lines: [String] =
            switch self {
            case .outOfScope(let violations): violations.map { "\($0)" }
            case .invalidPolicy(let problems): problems.map { "\($0)" }
            default: []
            }
        guard lines.count > 1 else { return [] }
        return lines.prefix(20) + (lines.count > 20 ? ["and \(lines.count - 20) more"] : [])
    }

    var nextStep: String {
        switch self {
        case .tooLarge: "cover sub-domains by includeSubdomains instead of naming them"
        case .malformedEnvelope: "make it with pintle sign, and serve it as it is, without a page around it"
        case .invalidSignature: "look who signed: pintle inspect UPDATE, and compare with the id of --trusted"
        case .thresholdNotMet: "have another key sign: pintle sign --key OTHER --append UPDATE -o UPDATE"
        case .unknownPayloadType: "sign the policy with pintle sign; apps read \(SignedEnvelope.policyType)"
        case .malformedPayload: "sign the policy again with pintle sign"
        case .rollback(_, let floor):
            floor < UpdatePayload.maximumVersion
                ? "publish version \(floor + 1) or later; a client that refuses this works as designed"
                : "ship a release with new keys, which begins a new floor"
        case .replacedVersion(let version): "publish it as version \(version + 1) or later"
        case .notYetIssued: "wait, or sign it with an earlier --issued"
        case .expired: "sign the policy again under the next version, with a later --expires"
        case .outOfScope:
            "ship it with a release, or allow it there: \"updates\": {\"anyHost\": true}, \"withdraws\": \"why\""
        case .invalidPolicy: "mend the policy (pintle lint), then sign it under the next version"
        }
    }
}
