internal import Pintle
internal import PintleConsole
internal import PintlePolicyLint
internal import PintleSystem
internal import PintleText
internal import PintleUpdates

/// The results of a plan in sentences, which the text, the JSON document and the page share.
struct PlanReport {
    let adviser: PlanAdviser
    let lockOuts: [LockOut]
    let exposures: [Exposure]
    let advice: [PlanAdvice]

    var simulation: PlanSimulation { adviser.simulation }
    var plan: RotationPlan { simulation.plan }
    /// A Boolean value that indicates whether a simulated version loses a server.
    var isLockedOut: Bool { !lockOuts.isEmpty }

    init(_ simulation: PlanSimulation, families: AuthorityFamilies) {
        adviser = PlanAdviser(simulation, families: families)
        lockOuts = simulation.lockOuts()
        exposures = simulation.exposures()
        advice = adviser.advice(lockOuts, exposures)
    }

    // MARK: Sentences

    /// `2026-11-20 to 2027-12-01`
    var span: String { "\(ValidityText.day(simulation.now)) to \(PlanTime.text(plan.until))" }

    /// `from 2027-03-01, versions 2.1, 2.2 cannot connect to api.example.com`
    func sentence(_ lockOut: LockOut) -> String {
        let span = span(from: lockOut.from, until: lockOut.until)
        return "\(span), \(plan.versions(lockOut.victims.map(\.app))) cannot connect to "
            + plan.servers[lockOut.server].name + plan.condition(ofCertificate: lockOut.certificate)
    }

    /// Returns the cause: `pin-mismatch: the server shows "summer" with the key "next", which they do not pin`
    func reason(_ lockOut: LockOut) -> String {
        let certificate = plan.certificates[lockOut.certificate]
        let served = "\"\(certificate.name)\""
        let source = lockOut.update.map { "with update \(plan.updates[$0].version) " } ?? ""
        let what =
            switch (lockOut.rejection, lockOut.pathFailure) {
            case (.pinMismatch, _):
                "the server shows \(served), and \(source)no key on its path is pinned: "
                    + certificate.keys.map(plan.quotedName).joined(separator: ", ")
            case (_, .expired): "the server still shows \(served), which ended \(PlanTime.text(certificate.notAfter))"
            case (_, .notYetValid):
                "the server shows \(served), which is not valid before \(PlanTime.text(certificate.notBefore))"
            case (_, .untrustedRoot): "the server shows \(served), whose root is not one of the anchors"
            case (.pinsExpired, _): "the pins are past their date, and the policy then refuses"
            case (.hostNotAllowed, _):
                "the policy has no rule for the server, and "
                    + (lockOut.asksUser ? "asks the user about such hosts" : "refuses such hosts")
            case (.invalidPath, _) where lockOut.isBySystem:
                "the server shows \(served), and the Info.plist, which the system enforces whatever the policy "
                    + "says, pins \(unmatched(lockOut))"
            case (.invalidPath, _):
                "the server shows \(served)" + (lockOut.issuerKey.map { issuer(certificate, $0) } ?? "")
            default: lockOut.rejection.advice.failure
            }
        return (lockOut.pathFailure.map { "\(lockOut.reason) (\($0.rawValue))" } ?? lockOut.reason) + ": " + what
    }

    /// `leaves, but not "next", and authorities, but not "root"`
    private func unmatched(_ lockOut: LockOut) -> String {
        let path = plan.certificates[lockOut.certificate].keys
        return lockOut.unmatchedLists.map { list in
            let (name, keys) = list == .leaf ? ("leaves", path.prefix(1)) : ("authorities", path.dropFirst())
            let names = keys.map(plan.quotedName).joined(separator: ", ")
            return "\(name), but \(names.isEmpty ? "the path has none" : "not \(names)")"
        }.joined(separator: ", and ")
    }

    /// `, issued by the key "root", and the rule's issuerKey is sha256/... (key "old root")`
    private func issuer(_ certificate: RotationPlan.Certificate, _ required: PublicKeyPin) -> String {
        let served = certificate.keys.dropFirst().first.map { ", issued by the key \"\(plan.keys[$0].name)\"," } ?? ""
        let name = plan.keys.first { $0.pin == required }.map { " (key \"\($0.name)\")" } ?? ""
        return "\(served) and the rule's issuerKey is \(required)\(name)"
    }

    func sentence(_ exposure: Exposure) -> String {
        let span = span(from: exposure.from, until: exposure.until)
        return
            "\(span), \(plan.versions(exposure.apps)) \(exposure.apps.count == 1 ? "accepts" : "accept") a thief with "
            + "the stolen key \"\(plan.keys[exposure.key].name)\" as \(plan.servers[exposure.server].name)"
    }

    private func span(from start: Date, until end: Date?) -> String {
        let from = start == simulation.now ? "already on \(ValidityText.day(start))" : "from \(PlanTime.text(start))"
        return end.map { "\(from) until \(PlanTime.text($0))" } ?? from
    }
}
