internal import Pintle
internal import PintleSystem

extension HistoryReport {
    /// The changes, gaps and pins of one server in JSON at most, the newest.
    private static let most = 1_000

    /// `{result, servers, results, from, until, changed, unchanged, died, policy?, policies, anchors, hosts}`. Each
    /// server is one line, because there can be many.
    var document: JSONWriter {
        .document { json in
            json.member("result", died > 0 ? "died" : "ok")
            json.member("servers", entries.count)
            json.member("results", results)
            json.member("from", span.lowerBound)
            json.member("until", span.upperBound)
            json.member("changed", changed.count)
            json.member("unchanged", unchanged.count)
            json.member("died", died)
            json.member("policy", policy)
            json.member("policies", policies)
            json.member("anchors", anchors)
            json.array("hosts", entries) { json, entry in
                var line = JSONWriter(.compact)
                line.object { Self.write(entry, to: &$0) }
                json.value(verbatim: line.bytes[...])
            }
        }
    }

    private static func write(_ entry: HistoryEntry, to json: inout JSONWriter) {
        let history = entry.history
        json.member("host", entry.server.endpoint.host.description)
        json.member("port", entry.server.endpoint.port)
        json.member("connectTo", entry.server.connectTo?.description)
        json.member("observations", history.observations.count)
        json.member("proves", history.isConclusive)
        json.object("counts") { json in
            json.member("leafKey", entry.leafKeys)
            json.member("leafCertificate", entry.leafCertificates)
            json.member("intermediates", entry.intermediates)
            json.member("root", entry.roots)
        }
        json.member("rule", entry.statuses.rule)
        json.member("isServed", history.isConclusive ? entry.statuses.isServed : nil)
        write(entry.statuses.pins, to: &json)
        json.objects("changes", entry.changes.suffix(most), write)
        let more = entry.changes.count - most
        json.member("moreChanges", more > 0 ? more : nil)
        json.objects("gaps", history.gaps.suffix(most)) { json, gap in
            json.member("at", gap.instant)
            json.member("reason", gap.reason)
        }
        json.member("moreGaps", history.gaps.count > most ? history.gaps.count - most : nil)
        writeRenewals(of: history, to: &json)
    }

    private static func writeRenewals(of history: KeyHistory, to json: inout JSONWriter) {
        let renewals = history.renewals
        json.object("renewals") { json in
            json.member("count", renewals.count)
            json.member("keptKey", renewals.count { !$0.leafKey })
            json.member("lifetimeDays", history.lifetime.map(days))
            json.member("intervalDays", history.renewalInterval.map(days))
        }
    }

    /// Returns whole days, rounded to the nearest: certificates often end a second before a whole day.
    private static func days(_ seconds: Double) -> Int { Int((min(max(seconds, 0), 1e12) / 86_400).rounded()) }

    private static func write(_ pins: [PinStatus], to json: inout JSONWriter) {
        json.objects("pins", pins.prefix(most)) { json, status in
            json.member("pin", status.pin.description)
            json.member("position", status.pin.position == .any ? nil : status.pin.position.rawValue)
            json.member("isBackup", status.isBackup)
            json.member("rule", status.rule)
            json.member("state", status.state.rawValue)
            json.member("firstSeen", status.firstSeen)
            json.member("lastSeen", status.lastSeen)
            json.member("missingSince", status.missingSince)
        }
    }

    private static func write(_ json: inout JSONWriter, _ change: KeyChange) {
        json.member("notYet", change.before.instant)
        json.member("seen", change.after.instant)
        json.member("leafKey", change.leafKey)
        json.member("leafCertificate", change.leafCertificate)
        json.member("intermediates", change.intermediates)
        json.member("root", change.root)
        json.member("isReturn", change.isReturn)
        json.object("before") { write(change.before, to: &$0) }
        json.object("after") { write(change.after, to: &$0) }
    }

    /// `{leafKey, leafCertificate, notBefore, notAfter, issuer, intermediates, root?}`
    private static func write(_ observation: KeyObservation, to json: inout JSONWriter) {
        json.member("leafKey", observation.leafKey.description)
        json.member("leafCertificate", observation.leafCertificate.description)
        json.member("notBefore", observation.notBefore)
        json.member("notAfter", observation.notAfter)
        json.member("issuer", observation.issuer)
        json.member("intermediates", observation.intermediates.map(\.description))
        json.member("root", observation.root?.description)
    }
}
