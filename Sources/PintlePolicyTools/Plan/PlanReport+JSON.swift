internal import Pintle
internal import PintlePolicyFile
internal import PintleSystem
internal import PintleUpdates

extension PlanReport {
    /// `{"result", "from", "until", "notSimulated": [...], "lockouts": [...], "exposures"?, "renewals"?, "updates"?,
    /// "advice": [...], "notes"?}`; one lock-out for each version that loses a server.
    var document: JSONWriter {
        .document { json in
            json.member("result", code)
            json.member("from", simulation.now)
            json.member("until", plan.until)
            json.member("notSimulated", notSimulated)
            let lockedOut = lockOuts.flatMap { lockOut in lockOut.victims.map { (lockOut: lockOut, victim: $0) } }
            json.objects("lockouts", lockedOut) { write(&$0, $1.victim, of: $1.lockOut) }
            if !exposures.isEmpty { json.objects("exposures", exposures, write) }
            if !renewals.isEmpty { json.objects("renewals", renewals, write) }
            if !plan.updates.isEmpty { json.objects("updates", plan.updates.indices) { write(&$0, update: $1) } }
            json.objects("advice", advice, write)
            if !notes.isEmpty { json.member("notes", notes) }
        }
    }

    private func write(_ json: inout JSONWriter, _ victim: LockOut.Victim, of lockOut: LockOut) {
        json.member("from", lockOut.from)
        json.member("until", victim.until)
        json.write(plan.servers[lockOut.server])
        json.member("app", plan.apps[victim.app].version)
        json.member("reason", lockOut.reason)
        json.member("pathFailure", lockOut.pathFailure?.rawValue)
        json.member("certificate", plan.certificates[lockOut.certificate].name)
        if let renewal = plan.certificates[lockOut.certificate].renewal, renewal.hasAlternatives {
            json.member("authority", renewal.authority)
        }
        if case .pinMismatch = lockOut.rejection {
            let key = plan.keys[adviser.missingKey(lockOut)]
            json.member("missingKey", key.name)
            json.member("missingPin", key.pin.description)
        }
        json.member("message", sentence(lockOut))
    }

    private func write(_ json: inout JSONWriter, _ exposure: Exposure) {
        json.member("from", exposure.from)
        json.member("until", exposure.until)
        json.write(plan.servers[exposure.server])
        json.member("key", plan.keys[exposure.key].name)
        json.member("certificate", plan.certificates[exposure.certificate].name)
        json.member("apps", exposure.apps.map { plan.apps[$0].version })
        json.member("message", sentence(exposure))
    }

    private func write(_ json: inout JSONWriter, update number: Int) {
        let update = plan.updates[number]
        json.member("version", update.version)
        json.member("published", update.published)
        json.member("expires", update.expires)
        json.objects("apps", plan.apps.indices) { json, app in
            let missed = simulation.missed[app][number]
            json.member("app", plan.apps[app].version)
            json.member("result", missed == nil ? "accepted" : "rejected")
            guard let missed else { return }
            if case .failure(let failure) = missed { json.member("error", failure.code.rawValue) }
            json.member("message", Self.text(of: missed))
        }
    }

    private func write(_ json: inout JSONWriter, _ item: PlanAdvice) {
        json.member("id", item.kind.rawValue)
        json.write(plan.servers[item.server])
        json.member("by", item.by)
        json.member("pin", item.pin?.description)
        if !item.apps.isEmpty { json.member("apps", item.apps.map { plan.apps[$0].version }) }
        json.member("message", item.text)
    }
}

extension JSONWriter {
    mutating func write(_ server: RotationPlan.Server) {
        member("host", server.endpoint.host.description)
        member("port", server.endpoint.port)
    }
}
