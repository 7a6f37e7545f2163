internal import PintleTestKit

/// The outcome of an attack on a client.
enum RehearsalOutcome: String {
    case accepted
    case blocked
    /// The client sent its request to the wrong server, or took it for the right one.
    case letThrough = "let-through"
    /// The client's behaviour allows no verdict.
    case inconclusive
    /// The attack was not tried.
    case notRun = "not-run"

    /// The word in a table. Upper case marks the bad outcome without colours.
    var word: String {
        switch self {
        case .letThrough: "LET THROUGH"
        case .notRun: "not run"
        default: rawValue
        }
    }
}

/// One attack and its outcome.
struct RehearsalResult {
    let attack: Attack
    let outcome: RehearsalOutcome
    /// Request bytes where the attack is.
    var requestBytes = 0
    var milliseconds: Int?
    /// The exit status, 128 plus the signal where one ended it; `nil` where it was killed.
    var clientExit: Int32?
    /// Such as `bad_certificate (42)`: the client's last fatal alert.
    var alert: String?
    var remark: String?
    /// The beginning of what the client wrote to standard error, or where it wrote nothing there, to standard output.
    var clientWords: [UInt8] = []

    /// The remark where bytes came without TLS.
    static let inTheClear = "sent in the clear"

    /// A Boolean value that indicates whether the client bypassed TLS, which does not mean that it trusted the server.
    var wasInTheClear: Bool { remark == RehearsalResult.inTheClear }

    /// A Boolean value that indicates whether the outcome needs no action.
    var isAsItMustBe: Bool {
        switch outcome {
        case .accepted: attack.expectation == .accepted
        case .blocked: attack.expectation == .refused
        case .notRun: true
        case .letThrough, .inconclusive: false
        }
    }

    /// The words beside the verdict.
    var why: String? {
        if outcome == .inconclusive || outcome == .notRun { return remark }
        guard !isAsItMustBe else { return nil }
        return [remark, attack.stake].compactMap(\.self).joined(separator: "; ")
    }
}
