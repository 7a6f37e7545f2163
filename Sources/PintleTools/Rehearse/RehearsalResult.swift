internal import PintleTestKit

/// What a client did about a server.
enum RehearsalOutcome: String {
    case accepted
    case blocked
    /// It sent its request where it must not, or took the server for the right one.
    case letThrough = "let-through"
    /// Nothing can be told from what it did.
    case inconclusive
    /// The attack was not tried.
    case notRun = "not-run"

    /// As it stands in a table: what must not be catches the eye without colours.
    var word: String {
        switch self {
        case .letThrough: "LET THROUGH"
        case .notRun: "not run"
        default: rawValue
        }
    }
}

/// One attack and what came of it.
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

    /// Whether it went round TLS, and did not take the server for the right one.
    var wasInTheClear: Bool { remark == RehearsalResult.inTheClear }

    /// Nothing is to be done about it.
    var isAsItMustBe: Bool {
        switch outcome {
        case .accepted: attack.expectation == .accepted
        case .blocked: attack.expectation == .refused
        case .notRun: true
        case .letThrough, .inconclusive: false
        }
    }

    /// What to say beside the verdict.
    var why: String? {
        if outcome == .inconclusive || outcome == .notRun { return remark }
        guard !isAsItMustBe else { return nil }
        return [remark, attack.stake].compactMap(\.self).joined(separator: "; ")
    }
}
