import Foundation
import FoundationNetworking
import Pintle
import Testing

@testable import PintleURLSession

/// The states of a task, without a server, a session or a delegate. Transfers are numbers.
@Suite("Pinned sessions: the states of a task")
struct TaskStateMachineTests {
    @Test(
        "Each event in each state leads to the table's actions and state, or to none if the table has no row",
        arguments: TaskSituation.allCases, TaskEvent.allCases)
    func row(situation: TaskSituation, event: TaskEvent) throws {
        var machine = try situation.machine()
        let before = machine.summary
        let actions = try event.apply(to: &machine)
        let expected = TaskTransitionTable.row(situation, event) ?? "- > \(before)"
        #expect("\(actions.isEmpty ? "-" : actions) > \(machine.summary)" == expected)
    }

    @Test("Each row of the table names an existing state and event")
    func table() {
        for (situation, event) in TaskTransitionTable.keys {
            #expect(TaskSituation(rawValue: situation) != nil, "\(situation)")
            #expect(TaskEvent(rawValue: event) != nil, "\(event)")
        }
    }

    @Test("A task starts at one resume call more than it was suspended, and not before", arguments: [0, 1, 3])
    func suspensions(count: Int) throws {
        var machine = TaskStateMachine<Int>(try TaskEvent.hop())
        machine.admitted()
        for _ in 0..<count { _ = machine.suspend() }
        for _ in 0..<count { #expect(machine.resume(deadline: 60).isEmpty && machine.phase == .suspended) }
        #expect(machine.resume(deadline: 60).map(\.summary) == ["prepare /first"])
        #expect(machine.phase == .running && machine.deadline == 60)
    }

    @Test("A running task ignores further resume calls, and a suspended one needs as many as it was suspended")
    func extraResume() throws {
        var machine = try TaskSituation.loading.machine()
        #expect(machine.resume(deadline: 60).isEmpty && machine.phase == .running)
        let adjusted = machine.suspend()
        #expect(adjusted.count == 1 && machine.phase == .suspended)
        #expect(machine.suspend().isEmpty && machine.resume(deadline: 60).isEmpty && machine.phase == .suspended)
        #expect(machine.resume(deadline: 60).map(\.summary) == adjusted.map(\.summary))
        #expect(machine.phase == .running)
    }

    @Test("The values for the loader follow from the state", arguments: TaskSituation.allCases)
    func values(situation: TaskSituation) throws {
        let machine = try situation.machine()
        let isIdle = [.notAdmitted, .idle, .idleSuspended].contains(situation)
        let hasEnded = [.succeeded, .failed].contains(situation)
        let isLive = !isIdle && !hasEnded && situation != .cancelling
        let isPreparing = [.preparing, .preparingSuspended, .preparingNext, .preparingAgain].contains(situation)
        let hasTransfer = isLive && !isPreparing && situation != .awaitingStream
        let isSuspended = isIdle || situation.rawValue.hasSuffix("Suspended")
        #expect(machine.isLive == isLive && machine.isPreparing == isPreparing)
        #expect(
            machine.phase
                == (isSuspended ? .suspended : isLive ? .running : hasEnded ? .completed : .canceling))
        #expect(machine.carrier == (hasTransfer ? 1 : nil))
        #expect(machine.unendedCarrier == (hasTransfer || situation == .cancelling ? 1 : nil))
        #expect(machine.countdownDeadline == (isLive && !hasTransfer ? 60 : nil))
        #expect(machine.isAccepting(over: 1) == [.accepting, .acceptingHeld].contains(situation))
        #expect(machine.isStoringCookies(over: 1) == situation.rawValue.hasPrefix("storingCookies"))
        #expect(machine.refusals == 0)
    }

    @Test("A task without a time limit has no deadline to count down to")
    func endless() throws {
        var machine = try TaskSituation.idle.machine()
        _ = machine.resume(deadline: .infinity)
        #expect(machine.isPreparing && machine.countdownDeadline == nil)
    }

    @Test("The running transfer has the hold of each state, and another transfer has none")
    func holds() throws {
        let all: TransferHold = [.answer, .choice]
        let cookies = all.union(.cookies)
        let holds: [TaskSituation: TransferHold] = [
            .storingCookies: cookies, .storingCookiesOfRedirect: cookies, .storingCookiesOfChallenge: cookies,
            .storingCookiesOfStaleNonce: cookies, .storingCookiesOfRefusal: cookies, .askingRedirect: all,
            .askingCredential: all, .askingTwoOffers: all,
            .acceptingHeld: all, .askingResponse: .answer,
        ]
        for situation in TaskSituation.allCases {
            let machine = try situation.machine()
            #expect(machine.hold(of: 1) == holds[situation] ?? [], "\(situation)")
            #expect(machine.hold(of: 2) == [])
        }
    }

    @Test(
        "Redirects are followed up to the limit, and the next one fails",
        arguments: [Redirect.limit, Redirect.limit + 1])
    func redirectLimit(count: Int) throws {
        var machine = try TaskSituation.loading.machine()
        for _ in 0..<count {
            let actions = try TaskEvent.redirectUnasked.apply(to: &machine)
            #expect(actions.isEmpty != machine.summary.hasPrefix("failed"))
            _ = machine.completed(1, nil, at: 1)
            _ = machine.made(1, authorization: nil)
        }
        let expected = "loading, 1 of /next, redirects \(Redirect.limit)"
        #expect(machine.summary == (count > Redirect.limit ? "failed -1007" : expected))
    }

    @Test(
        "A redirect whose content times out is followed, unless the task's deadline has passed",
        arguments: [59.0, 60, 61])
    func deadline(uptime: Double) throws {
        var machine = try TaskSituation.discarding.machine()
        try #require(machine.deadline == 60)
        let actions = machine.completed(1, .timedOut, at: uptime)
        #expect(actions.map(\.summary) == (uptime < 60 ? ["prepareNext /next after 1"] : ["finish -1001"]))
    }

    @Test("A policy may change 64 times before a transfer is sent, and not 65 times", arguments: [64, 65])
    func supersessionLimit(count: Int) throws {
        var machine = try TaskSituation.loading.machine()
        for _ in 0..<count {
            _ = machine.completed(1, .superseded, at: 1)
            _ = machine.made(1, authorization: nil)
        }
        let expected = "loading, 1 of /first, supersessions 64"
        #expect(machine.summary == (count > 64 ? "failed -1200" : expected))
    }

    @Test(
        "The refusals within a transfer count towards the limit of the task", arguments: [0, 4, 5])
    func refusalLimit(count: Int) throws {
        let hop = try TaskEvent.hop("https://localhost/first", .stream(nil, size: nil))
        var machine = TaskStateMachine<Int>(hop)
        machine.admitted()
        _ = machine.resume(deadline: 60)
        _ = machine.opened(hop)
        _ = machine.made(1, authorization: nil)
        let actions = machine.completed(1, .unprocessed("refused", refusals: count), at: 1).map(\.summary)
        #expect(machine.refusals == (count < 5 ? count + 1 : 0))
        #expect(actions.first?.hasPrefix(count < 5 ? "prepareNext" : "finish -1005") == true)
        if count < 5 {
            var answered = machine
            _ = answered.made(1, authorization: nil)
            _ = try TaskEvent.head.apply(to: &answered)
            #expect(answered.refusals == 0)
            #expect(machine.lacksContent(canAsk: false).map(\.summary) == ["finish -1005"])
            #expect(machine.error?.localizedDescription.hasPrefix("refused") == true)
        }
    }

    @Test(
        "A delegate may give as many credentials as the limit, and the next 401 is the response", arguments: [20, 21])
    func challengeLimit(count: Int) throws {
        var machine = try TaskSituation.loading.machine()
        for _ in 0..<count {
            let actions = try TaskEvent.challenge.apply(to: &machine)
            #expect(!actions.isEmpty)
            _ = try TaskEvent.credential.apply(to: &machine)
            guard machine.summary.hasPrefix("discarding") else { break }
            _ = machine.completed(1, nil, at: 1)
            _ = machine.made(1, authorization: machine.authentication.authorization)
        }
        let step = count > AuthenticationState.challengeLimit ? "accepting 401" : "loading"
        #expect(machine.summary == "\(step), 1 of /first, authorized first, given 20")
    }

    @Test(
        "A redirect to another origin is recorded for all later hops, one to the same origin is not",
        arguments: [true, false])
    func origin(leaves: Bool) throws {
        let start = URLRequest(url: try #require(URL(string: "https://localhost/a")))
        let next = URLRequest(url: try #require(URL(string: leaves ? "https://other.example/" : "https://localhost/b")))
        let hop = Hop(request: start, content: .none).following(with: next)
        #expect(hop.hasLeftOrigin == leaves)
        #expect(hop.following(with: start).hasLeftOrigin == leaves)
    }

    @Test("Sent bytes count for the running transfer, and not for another one", arguments: [1, 2])
    func sent(carrier: Int) throws {
        var machine = try TaskSituation.loading.machine()
        #expect(machine.sent(7, over: carrier) == (carrier == 1))
        #expect(machine.progress.sent == (carrier == 1 ? 7 : 0))
    }
}
