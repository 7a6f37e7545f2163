package import Pintle
package import PintleConsole
internal import PintleStorage
package import PintleSystem
internal import PintleText

/// An approval as text and as JSON.
package struct ApprovalText {
    private let approval: TrustApproval
    /// The instant of its state.
    private let instant: Date

    package init(_ approval: TrustApproval, at instant: Date) {
        (self.approval, self.instant) = (approval, instant)
    }

    package static let facts: [Fact<ApprovalText>] = [
        Fact("host", "The server") { $0.approval.endpoint.host.description },
        Fact("port") { $0.approval.endpoint.port },
        Fact("state", "`live`, `expired` or `revoked`") { $0.state },
        Fact("certificate", "The fingerprint or the pin that is approved") {
            if case .certificate(let pin) = $0.approval.subject { pin.description } else { nil }
        },
        Fact("spki") { if case .publicKey(let pin) = $0.approval.subject { pin.description } else { nil } },
        Fact("accepts", "The accepted failures") { $0.accepted },
        Fact("approvedAt", "The instant of the approval, and its end if it has one") { $0.approval.approvedAt },
        Fact("expiresAt") { $0.approval.expiresAt },
        Fact("note", "Your own words") { $0.approval.note },
        Fact("revokedAt", "The instant when it was revoked") { $0.approval.revokedAt },
    ]

    /// Returns the server, and its facts below.
    var report: Report {
        var report = Report("\(approval.endpoint)   \(state, state == "live" ? .good : .warning)")
        report.layout.labelColumns = 10
        switch approval.subject {
        case .certificate(let pin): report.fact("cert", "\(pin)")
        case .publicKey(let pin): report.fact("key", "\(pin)")
        }
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

    private var accepted: [String] {
        TrustApproval.AcceptedFailure.ordered.filter(approval.accepts.contains).map(\.rawValue)
    }

    /// `certificate a22a…`, `key sha256/…`
    package static func subject(_ approval: TrustApproval) -> String { "\(kind(approval)) \(Pin(approval.subject))" }

    package static func kind(_ approval: TrustApproval) -> String {
        if case .certificate = approval.subject { "certificate" } else { "key" }
    }

    private var state: String {
        switch approval.state(at: instant) {
        case .live: "live"
        case .expired: "expired"
        case .revoked: "revoked"
        }
    }
}
