package import Pintle
internal import PintleConsole
package import PintlePolicyFile
internal import PintleStorage
package import PintleSystem
internal import PintleText

/// An approval as text and as JSON.
package enum ApprovalText {
    /// `{host, port, state, certificate | spki, accepts, approvedAt, expiresAt?, note?, revokedAt?}`
    package static func write(_ approval: TrustApproval, at instant: Date, to json: inout JSONWriter) {
        json.member("host", approval.endpoint.host.description)
        json.member("port", approval.endpoint.port)
        json.member("state", state(approval, at: instant))
        switch approval.subject {
        case .certificate(let pin): json.member("certificate", pin.description)
        case .publicKey(let pin): json.member("spki", pin.description)
        }
        json.member("accepts", accepted(by: approval))
        json.member("approvedAt", approval.approvedAt)
        json.member("expiresAt", approval.expiresAt)
        json.member("note", approval.note)
        json.member("revokedAt", approval.revokedAt)
    }

    /// Returns the server, and its facts below.
    static func report(_ approval: TrustApproval, at instant: Date) -> Report {
        let state = state(approval, at: instant)
        var report = Report("\(approval.endpoint)   \(state, state == "live" ? .good : .warning)")
        report.layout.labelColumns = 10
        switch approval.subject {
        case .certificate(let pin): report.fact("cert", "\(pin)")
        case .publicKey(let pin): report.fact("key", "\(pin)")
        }
        let accepted = accepted(by: approval)
        report.fact(
            "accepts", accepted.isEmpty ? "nothing: the system trusted it" : "\(accepted.joined(separator: ", "))")
        report.fact("approved", "\(ValidityText.day(approval.approvedAt))")
        if let end = approval.expiresAt {
            let isOver = instant >= end
            let span = isOver ? ValidityText.span(from: end, to: instant) : ValidityText.span(from: instant, to: end)
            report.fact(isOver ? "ended" : "ends", "\(ValidityText.day(end)), \(span) \(isOver ? "ago" : "left")")
        }
        if let revoked = approval.revokedAt { report.fact("revoked", "\(ValidityText.day(revoked))") }
        if let note = approval.note { report.fact("note", "\(note)") }
        return report
    }

    private static func accepted(by approval: TrustApproval) -> [String] {
        TrustApproval.AcceptedFailure.ordered.filter(approval.accepts.contains).map(\.rawValue)
    }

    /// `certificate a22a…`, `key sha256/…`
    package static func subject(_ approval: TrustApproval) -> String { "\(kind(approval)) \(Pin(approval.subject))" }

    package static func kind(_ approval: TrustApproval) -> String {
        if case .certificate = approval.subject { "certificate" } else { "key" }
    }

    static func state(_ approval: TrustApproval, at instant: Date) -> String {
        switch approval.state(at: instant) {
        case .live: "live"
        case .expired: "expired"
        case .revoked: "revoked"
        }
    }
}
