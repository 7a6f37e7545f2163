internal import Pintle
internal import PintleSystem
internal import PintleUpdates

extension PlanReport {
    /// `{"result", "from", "until", "lockouts": [...], "exposures"?, "updates"?, "advice": [...], "notes"?}`; one
    /// lock-out for each version that loses a server.
    var document: JSONWriter {
        var json = JSONWriter(.pretty)
        json.object { json in
            json.member("result", isLockedOut ? "lockedOut" : "ok")
            json.member("from", RFC3339.string(from: simulation.now))
            json.member("until", RFC3339.string(from: plan.until))
            if let worst {
                json.object("worst") { json in
                    json.percent("share", worst.share)
                    json.member("at", RFC3339.string(from: worst.at))
                    json.write(plan.servers[worst.server])
                }
            }
            json.array("lockouts") { json in
                for lockOut in lockOuts {
                    let key = plan.keys[PlanAdviser(simulation).missingKey(lockOut)]
                    for victim in lockOut.victims { write(lockOut, victim, missing: key, to: &json) }
                }
            }
            if !exposures.isEmpty {
                json.array("exposures") { json in for exposure in exposures { write(exposure, to: &json) } }
            }
            if !plan.updates.isEmpty {
                json.array("updates") { json in
                    for number in plan.updates.indices { write(update: number, to: &json) }
                }
            }
            json.array("advice") { json in for item in advice { write(item, to: &json) } }
            if !notes.isEmpty { json.member("notes", notes) }
        }
        return json
    }

    private func write(
        _ lockOut: LockOut, _ victim: LockOut.Victim, missing key: RotationPlan.Key, to json: inout JSONWriter
    ) {
        json.object { json in
            json.member("from", RFC3339.string(from: lockOut.from))
            json.member("until", victim.until.map { RFC3339.string(from: $0) })
            json.write(plan.servers[lockOut.server])
            json.member("app", plan.apps[victim.app].version)
            json.percent("share", victim.share)
            json.member("reason", lockOut.reason)
            json.member("pathFailure", lockOut.pathFailure?.rawValue)
            json.member("certificate", plan.certificates[lockOut.certificate].name)
            if let renewal = plan.certificates[lockOut.certificate].renewal, renewal.hasAlternatives {
                json.member("authority", renewal.authority)
            }
            if case .pinMismatch = lockOut.rejection {
                json.member("missingKey", key.name)
                json.member("missingPin", key.pin.description)
            }
            json.member("message", sentence(lockOut))
        }
    }

    private func write(_ exposure: Exposure, to json: inout JSONWriter) {
        json.object { json in
            json.member("from", RFC3339.string(from: exposure.from))
            json.member("until", exposure.until.map { RFC3339.string(from: $0) })
            json.write(plan.servers[exposure.server])
            json.member("key", plan.keys[exposure.key].name)
            json.member("certificate", plan.certificates[exposure.certificate].name)
            json.member("apps", exposure.apps.map { plan.apps[$0].version })
            json.percent("share", exposure.share)
            json.percent("lastShare", exposure.lastShare)
            json.member("message", sentence(exposure))
        }
    }

    private func write(update number: Int, to json: inout JSONWriter) {
        let update = plan.updates[number]
        json.object { json in
            json.member("version", update.version)
            json.member("published", RFC3339.string(from: update.published))
            json.member("expires", RFC3339.string(from: update.expires))
            json.array("apps") { json in
                for (index, app) in plan.apps.enumerated() {
                    let refusal = simulation.refusals[index][number]
                    json.object { json in
                        json.member("app", app.version)
                        json.member("result", refusal == nil ? "accepted" : "rejected")
                        guard let refusal else { return }
                        if case .failure(let failure) = refusal { json.member("error", failure.code) }
                        json.member("message", Self.text(of: refusal))
                    }
                }
            }
        }
    }

    private func write(_ item: PlanAdvice, to json: inout JSONWriter) {
        json.object { json in
            json.member("id", item.kind.rawValue)
            json.write(plan.servers[item.server])
            json.member("by", item.by.map { RFC3339.string(from: $0) })
            json.member("pin", item.pin?.description)
            if let share = item.share { json.percent("share", share) }
            if !item.apps.isEmpty { json.member("apps", item.apps.map { plan.apps[$0].version }) }
            json.member("message", item.text)
        }
    }
}

extension JSONWriter {
    /// Writes a share as a percentage.
    fileprivate mutating func percent(_ key: String, _ share: UserShare) {
        self.key(key)
        value(verbatim: Array(share.decimal.utf8)[...])
    }

    fileprivate mutating func write(_ server: RotationPlan.Server) {
        member("host", server.endpoint.host.description)
        member("port", Int(server.endpoint.port))
    }
}
