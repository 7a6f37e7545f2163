internal import Pintle
internal import PintleSystem
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
        console.warn("scope and floor were not checked: that needs --bundled POLICY")
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
        console.print("\(palette.bad("REJECTED"))   \(failure.code)   \(SafeText.escape("\(failure)"))")
        console.print()
        for line in TextLayout.wrapped(failure.explanation, width: min(console.width, 90) - 2) {
            console.print("  " + line)
        }
        for line in failure.details { console.print("  " + SafeText.escape(line)) }
        if !rejection.signers.isEmpty {
            console.print()
            printSigners(rejection.signers)
        }
        printChecks(until: failure.kind)
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
        json.member("error", failure.code)
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
