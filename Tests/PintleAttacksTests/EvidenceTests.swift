import Testing

@testable import PintleAttacks
@testable import PintleTestKit

/// The table of evidence: each end of a connection without a request, and whether it is a refusal.
@Suite("Attacks: evidence")
struct EvidenceTests {
    /// The answer to one end of a connection.
    enum Answer: String, Sendable {
        /// One trial is enough.
        case once
        /// Two equal trials are needed, quick and without another connection.
        case twice
        /// Five equal trials are needed, and the client is also met at the right server.
        case fiveTimes
        case never
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let claim: String
        let manner: ConnectionEnd.Manner
        var isAfterFinished = [false, true]
        let answer: Answer
        /// The alerts of the client's refusals at the server that it must refuse.
        var habit: Set<UInt8> = []

        var testDescription: String { claim }
    }

    private static let rows =
        [42, 43, 44, 45, 46, 48, 49].map {
            Row(claim: "alert \($0) refuses the certificate", manner: .alert($0), answer: .once)
        }
        + [40, 80].flatMap { code in
            [
                Row(claim: "alert \(code) alone is not about the certificate", manner: .alert(code), answer: .twice),
                Row(
                    claim: "alert \(code) refuses if the client's other refusals end so", manner: .alert(code),
                    answer: .once, habit: [code]),
            ]
        }
        + [
            Row(claim: "user_canceled is never enough", manner: .alert(90), answer: .twice, habit: [90]),
            Row(claim: "decode_error is not about the certificate", manner: .alert(50), answer: .twice, habit: [50]),
            Row(claim: "close_notify is never enough", manner: .closing, answer: .twice),
            Row(claim: "an end of file is never enough", manner: .finish, answer: .twice),
            Row(
                claim: "a client that has not read the certificate needs a control", manner: .unread,
                isAfterFinished: [false], answer: .fiveTimes),
            Row(
                claim: "a ClientHello without the attack's version refuses it", manner: .unoffered,
                isAfterFinished: [false], answer: .once),
            Row(
                claim: "a client that was shown no certificate refuses none", manner: .early, isAfterFinished: [false],
                answer: .never),
            Row(claim: "silence is never a refusal", manner: .silence, answer: .never),
        ]

    private func habit(_ row: Row, isControlled: Bool) -> ClientHabit {
        var habit = ClientHabit()
        habit.isControlled = isControlled
        habit.add(refusal: 0.1, alert: 48)
        for code in row.habit { habit.add(refusal: 0.1, alert: code) }
        return habit
    }

    @Test("Each end of a connection has one answer, before and after Finished", arguments: rows)
    func table(_ row: Row) {
        for isAfterFinished in row.isAfterFinished {
            let end = ConnectionEnd(manner: row.manner, isAfterFinished: isAfterFinished)
            func isRefusal(_ trials: Trial..., controlled: Bool = false) -> Bool {
                Evidence.doubt(about: trials, habit: habit(row, isControlled: controlled)) == nil
            }
            let (usual, slow) = (Trial([end], seconds: 0.2), Trial([end], seconds: 0.4))
            let beside = Trial([end], isAlone: false)
            #expect(isRefusal(usual) == (row.answer == .once))
            #expect(isRefusal(usual, usual) == [.once, .twice].contains(row.answer))
            #expect(isRefusal(usual, usual, controlled: true) == [.once, .twice].contains(row.answer))
            let five = [Trial](repeating: usual, count: 5)
            #expect(
                (Evidence.doubt(about: five, habit: habit(row, isControlled: true)) == nil) == (row.answer != .never))
            // Time, and other connections, can only take a refusal away.
            let isCertain = row.answer == .once
            #expect(isRefusal(beside) == isCertain && isRefusal(usual, beside) == isCertain)
            #expect(isRefusal(beside, usual) == isCertain)
            let mayBeLate = isCertain || row.manner == .alert(50)
            #expect(isRefusal(slow, slow) == mayBeLate && isRefusal(slow, usual) == mayBeLate)
            #expect(isRefusal(Trial([end], process: .exited(1)), Trial([end], process: .exited(28))) == isCertain)
            #expect(isRefusal(Trial([.init(manner: .closing, isAfterFinished: !isAfterFinished)]), usual) == isCertain)
        }
    }

    @Test("A refusal on one connection says nothing about another that ended without an alert")
    func mixed() {
        let alert = ConnectionEnd(manner: .alert(42), isAfterFinished: false)
        let finish = ConnectionEnd(manner: .finish, isAfterFinished: false)
        #expect(Evidence.doubt(about: [Trial([alert, finish])], habit: ClientHabit()) == .few)
        #expect(Evidence.doubt(about: [Trial([alert])], habit: ClientHabit()) == nil)
    }

    @Test("The limit follows from the client's refusals, and without any from its requests to the right server")
    func limit() {
        var habit = ClientHabit()
        #expect(habit.limit == nil)
        habit.add(acceptance: 1)
        #expect(habit.limit == 2.1)
        habit.add(refusal: 0.2, alert: 48)
        #expect(habit.limit == 0.5)
        habit.add(refusal: 3, alert: 48)
        #expect(habit.limit == 0.5)
    }

    @Test("A client whose speed varies needs five equal trials")
    func unsteady() {
        let trial = Trial([ConnectionEnd(manner: .closing, isAfterFinished: true)])
        for (seconds, needed) in [(0.2, 2), (2, 5)] {
            var habit = ClientHabit()
            habit.isControlled = true
            habit.add(acceptance: 0.1)
            habit.add(acceptance: seconds)
            let counts = (1...6).filter {
                Evidence.doubt(about: [Trial](repeating: trial, count: $0), habit: habit) == nil
            }
            #expect(counts.first == needed)
        }
    }

    @Test("The record of a connection tells the manner of its end")
    func records() {
        func manner(_ change: (inout TLSConnectionRecord) -> Void) -> ConnectionEnd.Manner {
            var record = TLSConnectionRecord()
            (record.hasBegunHandshake, record.hasPresented) = (true, true)
            change(&record)
            return ConnectionEnd(record).manner
        }
        #expect(manner { _ in } == .finish)
        #expect(manner { $0.hasDroppedBytes = true } == .unread)
        #expect(manner { ($0.hasDroppedBytes, $0.isHandshakeComplete) = (true, true) } == .finish)
        #expect(manner { $0.hasPresented = false } == .early)
        #expect(manner { ($0.hasPresented, $0.alertsSent) = (false, [.init(isFatal: true, code: 70)]) } == .unoffered)
        #expect(manner { $0.alertsReceived = [.closeNotify] } == .closing)
        #expect(manner { $0.alertsReceived = [.init(isFatal: true, code: 46), .closeNotify] } == .alert(46))
        #expect(manner { $0.wasGivenUp = true } == .silence)
    }
}
