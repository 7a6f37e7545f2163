import Foundation
import FoundationNetworking

@testable import PintleURLSession

/// A task's state machine with its surroundings: the threads that perform its actions, the transport's thread, the
/// delegate and the app. Each move is one step that no other thread can interrupt.
///
/// The moves are those that `TaskLoader`, `CurlLoop` and `Transfer` can make:
/// - The actions of one event are performed in order. Between two of them, other threads may take any number of steps.
/// - Commands to the transport are executed in the order in which they were sent. While the transport's thread performs
///   the actions of its own event, it executes no command and reports no event.
/// - A transfer reports its end once, last. A hold delays a success; `choice` delays an error of libcurl. A time-out, a
///   cancellation and a change of the policy are not delayed.
/// - The delegate answers each question at most once, and as late as it likes. A timer may fire late, but once.
struct TaskWorld {
    typealias Machine = TaskStateMachine<Int>

    /// The limits that make the number of states finite.
    struct Limits: Sendable {
        /// The number of suspensions.
        var suspensions = 1
        /// The number of redirects, challenges, refusals by the server and changes of the policy, together.
        var detours = 1
        var hasDelegate = true
        var hasStream = false
    }

    /// A step of a thread.
    enum Step {
        case perform(Machine.Action)
        /// Opens the content of a hop.
        case open(Hop)
        /// Makes a transfer.
        case make
        /// Prepares the file of a download, or a buffer.
        case accept(Int)
        /// Reports that the cookies are stored.
        case stored(Int)
        /// Reads the hold that the head of a response causes.
        case readHold(Int)
    }

    enum Question {
        case stream
        case redirect(to: URLRequest, Int)
        case credential(Int)
        case response(Int)
    }

    enum Command {
        case start(Int)
        case cancel(Int)
        case hold(Int, TransferHold)
        case release(Int, TransferHold)

        var number: Int {
            switch self {
            case .start(let number), .cancel(let number), .hold(let number, _), .release(let number, _): number
            }
        }
    }

    /// A transfer, as the transport sees it.
    struct Transfer {
        enum Phase {
            case made, queued, running
            /// libcurl has ended the transfer, and a hold delays the report.
            case waiting(failure: TransferError?)
        }

        let number: Int
        let isSecondAddress: Bool
        var phase = Phase.made
        var holds: TransferHold = []
        var hasHead = false
        var hasContent = false
    }

    let limits: Limits
    private(set) var machine: Machine
    private(set) var threads: [[Step]] = []
    private(set) var questions: [Question] = []
    /// The transfer that has not reported its end.
    private(set) var transfer: Transfer?
    private(set) var commands: [Command] = []
    /// The rest of what the transport's thread does for its last event.
    private(set) var turn: [Step] = []
    private var suspensions = 0
    private var detours = 0
    private var hasTimer = false
    private var wasCancelled = false
    private var keptBytes = 0
    private var starts = 0
    /// The causes that permit one more request.
    private var reasons = 1
    /// The broken law, if one is broken.
    private(set) var fault: String?

    init(_ limits: Limits) throws {
        self.limits = limits
        let content = limits.hasStream ? RequestContent.stream(nil, size: nil) : .none
        machine = Machine(try TaskEvent.hop("https://localhost/first", content))
        machine.admitted()
    }

    var isOver: Bool { machine.phase == .completed }

    // MARK: Moves

    enum Move {
        case resume, suspend, cancel
        /// The timer of a request that is prepared, and that of the task.
        case idleTimer, deadline
        case thread(Int, fails: Bool)
        case turn(fails: Bool)
        case command
        case answer(Int, Answer)
        /// The transport starts a queued transfer, or ends it because the policy has changed.
        case run, retire
        case data, muchData
        case head(TaskEvent)
        case end(TransferError?)
        case timeOut
    }

    enum Answer {
        /// The answer that leads on.
        case accept
        case decline, downgrade, nextOffer, refuse, cancel
    }

    /// A move that ends no task too early. From each state, a task must reach its end by such moves only.
    static func leadsOn(_ move: Move) -> Bool {
        switch move {
        case .suspend, .cancel, .idleTimer, .deadline, .timeOut, .muchData, .retire: false
        case .thread(_, let fails), .turn(let fails): !fails
        case .answer(_, let answer): answer == .accept
        case .head(let event): event == .head
        case .end(let failure): failure == nil
        case .resume, .command, .run, .data: true
        }
    }

    func moves() -> [Move] {
        guard !isOver else { return [] }
        var moves: [Move] = []
        // In other states the commands of the app are no-ops, which the table of transitions checks.
        if !wasCancelled {
            if machine.phase == .suspended { moves.append(.resume) }
            if suspensions < limits.suspensions { moves.append(.suspend) }
            moves.append(.cancel)
        }
        if hasTimer, machine.unendedCarrier == nil { moves += [.idleTimer, .deadline] }
        for (index, steps) in threads.enumerated() {
            moves.append(.thread(index, fails: false))
            if mayFail(steps[0]) { moves.append(.thread(index, fails: true)) }
        }
        for (index, question) in questions.enumerated() {
            let answers: [Answer] =
                switch question {
                case .stream: [.accept, .decline]
                case .redirect: [.accept, .decline, .downgrade]
                case .credential: [.accept, .decline, .nextOffer, .cancel]
                case .response: [.accept, .refuse, .cancel]
                }
            moves += answers.map { .answer(index, $0) }
        }
        if let step = turn.first {
            moves.append(.turn(fails: false))
            if mayFail(step) { moves.append(.turn(fails: true)) }
            return moves
        }
        if !commands.isEmpty { moves.append(.command) }
        return moves + transportMoves()
    }

    private func transportMoves() -> [Move] {
        guard let transfer else { return [] }
        switch transfer.phase {
        case .made: return []
        case .queued:
            return [.timeOut] + (detours < limits.detours ? [.retire] : [])
                + (transfer.holds.contains(.suspended) ? [] : [.run])
        case .waiting: return [.timeOut]
        case .running:
            var moves: [Move] = [.timeOut, .end(.library(code: 56, text: ""))]
            if transfer.hasHead {
                if transfer.holds.isEmpty, !transfer.hasContent { moves += [isDiscarding ? .muchData : .data] }
                moves.append(.end(nil))
            } else {
                moves += Self.finalHeads.map { .head($0) }
                guard detours < limits.detours else { return moves }
                moves += [.end(.superseded), .end(.unprocessed("refused", refusals: 0))]
                moves += Self.detourHeads.map { .head($0) }
            }
            return moves
        }
    }

    private var isDiscarding: Bool {
        if let carrier = machine.carrier, case (_, _, .discarding)? = machine.transfer(carrier) { true } else { false }
    }

    private static let finalHeads: [TaskEvent] = [.head, .cookies, .refusedRedirect, .plain401]
    private static let detourHeads: [TaskEvent] = [
        .redirect, .cookiesAndRedirect, .challenge, .challengeTwice, .cookiesAndChallenge, .staleChallenge,
        .cookiesAndStaleChallenge,
    ]

    private func mayFail(_ step: Step) -> Bool {
        switch step {
        case .open, .make, .accept: true
        case .perform, .stored, .readHold: false
        }
    }

    // MARK: One move

    mutating func make(_ move: Move) throws {
        switch move {
        case .resume:
            spawn(advance { $0.resume(deadline: 60) })
        case .suspend:
            suspensions += 1
            spawn(advance { $0.suspend() })
        case .cancel: cancel()
        case .idleTimer:
            hasTimer = false
            spawn(advance { $0.failed(.timedOut) })
        case .deadline:
            hasTimer = false
            spawn(advance { $0.reachedDeadline() })
        case .thread(let index, let fails):
            let step = threads[index].removeFirst()
            threads[index].insert(contentsOf: try run(step, fails), at: 0)
            if threads[index].isEmpty { threads.remove(at: index) }
        case .turn(let fails):
            let step = turn.removeFirst()
            turn.insert(contentsOf: try run(step, fails), at: 0)
        case .command: execute(commands.removeFirst())
        case .answer(let index, let answer): try receive(answer, to: questions.remove(at: index))
        case .run: transfer?.phase = .running
        case .retire: report(.superseded)
        case .timeOut: report(.timedOut)
        case .data: receiveData(100)
        case .muchData: receiveData(Machine.discardLimit + 1)
        case .head(let event): try receiveHead(event)
        case .end(let failure):
            transfer?.phase = .waiting(failure: failure)
            reportIfAllowed()
        }
        dropIdleSteps()
        checkHolds()
    }

    /// Drops steps that can no longer have an effect: those for a transfer that has ended. While the task is being
    /// cancelled, only the end of its transfer counts, as ``TaskSequenceTests/anyOrder()`` shows. Then all steps but
    /// the cancellation are dropped.
    private mutating func dropIdleSteps() {
        let carrier = machine.unendedCarrier
        let isCancelling = machine.phase == .canceling
        func isIdle(_ step: Step) -> Bool {
            guard case .perform(let action) = step else { return isCancelling }
            if isCancelling, case .cancelTransfer = action {} else if isCancelling { return true }
            return Self.number(of: step).map { $0 != carrier } ?? false
        }
        threads = threads.map { $0.filter { !isIdle($0) } }.filter { !$0.isEmpty }
        turn.removeAll(where: isIdle)
        commands.removeAll { command in
            switch command {
            case .start, .cancel: command.number != carrier
            case .hold, .release: command.number != carrier || isCancelling
            }
        }
        if isCancelling { questions = [] }
    }

    private mutating func cancel() {
        wasCancelled = true
        spawn(advance { $0.cancel() })
    }

    private mutating func spawn(_ actions: [Machine.Action]) {
        let steps = prepare(actions)
        if !steps.isEmpty { threads.append(steps) }
    }

    /// Returns the actions that other threads can notice, as steps.
    private func prepare(_ actions: [Machine.Action]) -> [Step] {
        actions.compactMap { action in
            switch action {
            case .keepTask, .storeCredential, .showResponse, .finish: nil
            default: .perform(action)
            }
        }
    }

    private mutating func run(_ step: Step, _ fails: Bool) throws -> [Step] {
        let hasDelegate = limits.hasDelegate
        switch step {
        case .perform(let action): return perform(action)
        case .open(let hop):
            if !hop.content.isAvailable {
                return prepare(advance { $0.lacksContent(canAsk: hasDelegate && !fails) })
            }
            if fails { return prepare(advance { $0.failed(.noBodyStream) }) }
            // A stream is used up by the transfer that sends it. Nothing looks at it before.
            let isStream = if case .stream = hop.content { true } else { false }
            _ = advance { $0.opened(isStream ? hop.with(.stream(nil, size: nil)) : hop) }
            return [.make]
        case .make:
            if fails { return prepare(advance { $0.failed(.notCached) }) }
            let number = freeNumber
            // A late timer does nothing to a transfer, and the next request has a timer of its own.
            hasTimer = false
            let actions = advance { $0.made(number, authorization: $0.authentication.authorization) }
            if machine.carrier == number {
                if transfer != nil { fault = "two transfers at a time" }
                transfer = Transfer(number: number, isSecondAddress: machine.request.url?.path == "/next")
            }
            return prepare(actions)
        case .accept(let number):
            guard !fails else { return prepare(advance { $0.failed(.noBodyStream, over: number) }) }
            return prepare(advance { $0.accepted(over: number, by: hasDelegate ? .asked : .none) })
        case .stored(let number):
            return prepare(advance { $0.storedCookies(over: number, canAsk: hasDelegate) })
        case .readHold(let number):
            if transfer?.number == number { transfer?.holds.formUnion(machine.hold(of: number)) }
            return []
        }
    }

    private mutating func perform(_ action: Machine.Action) -> [Step] {
        switch action {
        case .keepTask, .storeCredential, .showResponse, .finish: break
        case .prepare(let hop):
            hasTimer = true
            return [.open(hop)]
        case .prepareNext(let hop, _):
            hasTimer = true
            threads.append([.open(hop)])
        case .startCountdown: hasTimer = true
        case .askForStream: questions.append(.stream)
        case .askAboutRedirect(_, let next, let number): questions.append(.redirect(to: next, number))
        case .askForCredential(_, let number):
            if !limits.hasDelegate { return prepare(answer(.noCredential, number)) }
            questions.append(.credential(number))
        case .askAboutResponse(_, let number): questions.append(.response(number))
        case .start(let number, _):
            starts += 1
            if starts > reasons { fault = "a request without a reason" }
            commands.append(.start(number))
        case .adjustSuspension(let number):
            guard machine.carrier == number else { break }
            let isSuspended = machine.phase == .suspended
            commands.append(isSuspended ? .hold(number, .suspended) : .release(number, .suspended))
        case .release(let number, let hold): commands.append(.release(number, hold))
        case .cancelTransfer(let number): commands.append(.cancel(number))
        case .storeCookies(_, let number):
            threads.append([.perform(.release(number, .cookies)), .stored(number)])
        case .accept(_, let number): return [.accept(number)]
        }
        return []
    }

    // MARK: The delegate

    private mutating func answer(_ answer: Machine.Answer, _ number: Int?) -> [Machine.Action] {
        guard number == nil || machine.carrier == number else { return [] }
        return advance { $0.answered(answer, about: number) }
    }

    private mutating func receive(_ given: Answer, to question: Question) throws {
        guard given != .cancel else { return cancel() }
        switch question {
        case .stream:
            spawn(answer(.stream(given == .accept ? Fixed.stream : nil), nil))
        case .redirect(let next, let number):
            let request = given == .downgrade ? Fixed.insecure : given == .accept ? next : nil
            if given == .accept { reasons += 1 }
            spawn(answer(.redirect(request), number))
        case .credential(let number):
            if given == .accept { reasons += 1 }
            let value: Machine.Answer =
                given == .nextOffer
                ? .nextOffer : given == .accept ? .credential(try Fixed.authorization.get()) : .noCredential
            spawn(answer(value, number))
        case .response(let number):
            let refusal = SessionError(.invalidRequest, "refused")
            spawn(answer(given == .accept ? .allow : .refuse(refusal), number))
        }
    }

    // MARK: The transport

    private mutating func execute(_ command: Command) {
        switch command {
        case .start(let number):
            guard transfer?.number == number, case .made? = transfer?.phase else { return }
            transfer?.phase = .queued
        case .cancel(let number):
            guard transfer?.number == number else { return }
            report(.cancelled)
        case .hold(let number, let hold):
            if transfer?.number == number { transfer?.holds.formUnion(hold) }
        case .release(let number, let hold):
            guard transfer?.number == number else { return }
            transfer?.holds.subtract(hold)
            reportIfAllowed()
        }
    }

    private mutating func reportIfAllowed() {
        guard let transfer, case .waiting(let failure) = transfer.phase else { return }
        if failure == nil ? transfer.holds.isEmpty : !transfer.holds.contains(.choice) { report(failure) }
    }

    private mutating func report(_ failure: TransferError?) {
        guard let number = transfer?.number else { return }
        transfer = nil
        guard machine.unendedCarrier == number else { return }
        switch failure {
        case .superseded?, .unprocessed?:
            reasons += 1
            detours += 1
        default: break
        }
        turn += prepare(advance { $0.completed(number, failure, at: 1) })
    }

    private mutating func receiveHead(_ event: TaskEvent) throws {
        guard let number = transfer?.number else { return }
        transfer?.hasHead = true
        guard machine.carrier == number else { return }
        switch event {
        case .head, .cookies, .refusedRedirect, .plain401: break
        default: detours += 1
        }
        // Without a question, the state machine itself decides on the next request.
        switch event {
        case .redirect, .cookiesAndRedirect: if !limits.hasDelegate { reasons += 1 }
        case .staleChallenge, .cookiesAndStaleChallenge: reasons += 1
        default: break
        }
        let received = try Fixed.received(event, isSecondAddress: transfer?.isSecondAddress == true)
        let canAsk = limits.hasDelegate
        turn += prepare(advance { $0.receivedHead(received, over: number, canAsk: canAsk) }) + [.readHold(number)]
    }

    private mutating func receiveData(_ count: Int) {
        guard let number = transfer?.number, machine.carrier == number else { return }
        transfer?.hasContent = true
        switch machine.receivedData(count, over: number) {
        case .keep: keptBytes += count
        case .discard: break
        case .refuse:
            if count <= Machine.discardLimit { fault = "content was refused" }
            transfer?.phase = .waiting(failure: .library(code: 23, text: ""))
            reportIfAllowed()
        }
    }

    // MARK: Laws

    /// Passes an event to the machine and checks what must hold for each of them.
    private mutating func advance(_ event: (inout Machine) -> [Machine.Action]) -> [Machine.Action] {
        let (wasOver, carrier) = (isOver, machine.unendedCarrier)
        let actions = event(&machine)
        let finishes = actions.count { if case .finish = $0 { true } else { false } }
        if wasOver, !actions.isEmpty { fault = "actions after the end" }
        if finishes != (isOver && !wasOver ? 1 : 0) { fault = "\(finishes) completions at one end" }
        guard finishes == 1, isOver else { return actions }
        if wasCancelled, machine.error?.code != .cancelled { fault = "a cancelled task ended otherwise" }
        if machine.error == nil {
            if machine.response == nil { fault = "a success without a response" }
            if machine.progress.received != keptBytes { fault = "a success without all of its content" }
        }
        let cancels = actions.contains { if case .cancelTransfer = $0 { true } else { false } }
        if let number = transfer?.number, number == carrier, !cancels {
            fault = "the task has ended and its transfer goes on"
        }
        return actions
    }

    /// Once nothing is on its way, the transport must hold the transfer for exactly the reasons of the state.
    private mutating func checkHolds() {
        guard !isOver, threads.isEmpty, turn.isEmpty, commands.isEmpty, let transfer, machine.carrier == transfer.number
        else { return }
        var expected = machine.hold(of: transfer.number)
        if machine.phase == .suspended { expected.insert(.suspended) }
        if transfer.holds != expected { fault = "held for \(transfer.holds.rawValue), not \(expected.rawValue)" }
    }

    // MARK: Keys

    /// A number that nothing refers to any more. So the numbers stay small, and equal situations have equal keys.
    private var freeNumber: Int {
        var used: Set<Int> = []
        if let carrier = machine.unendedCarrier { used.insert(carrier) }
        for step in threads.joined() { if let number = Self.number(of: step) { used.insert(number) } }
        for step in turn { if let number = Self.number(of: step) { used.insert(number) } }
        for question in questions {
            switch question {
            case .stream: break
            case .redirect(_, let number), .credential(let number), .response(let number): used.insert(number)
            }
        }
        used.formUnion(commands.map(\.number))
        return (1...).first { !used.contains($0) } ?? 0
    }

    private static func number(of step: Step) -> Int? {
        switch step {
        case .open, .make: return nil
        case .accept(let number), .stored(let number), .readHold(let number): return number
        case .perform(let action):
            switch action {
            case .askAboutRedirect(_, _, let number), .askForCredential(_, let number),
                .askAboutResponse(_, let number), .start(let number, _), .adjustSuspension(let number),
                .release(let number, _), .cancelTransfer(let number), .storeCookies(_, let number),
                .accept(_, let number):
                return number
            default: return nil
            }
        }
    }

    /// A text that is equal for two worlds only if they have the same future.
    var key: String {
        guard !isOver else { return "over" }
        var text = "\(machine.summary)|\(machine.refusals)"
        text += "|\(suspensions)\(detours)\(hasTimer)\(wasCancelled)\(reasons - starts)"
        text += "|" + threads.map { $0.map(Self.text).joined(separator: ",") }.sorted().joined(separator: ";")
        text += "|" + turn.map(Self.text).joined(separator: ",")
        text += "|" + questions.map(Self.text).sorted().joined(separator: ",")
        text += "|" + commands.map(Self.text).joined(separator: ",")
        guard let transfer else { return text }
        let phase =
            switch transfer.phase {
            case .made: "made"
            case .queued: "queued"
            case .running: "running"
            case .waiting(let failure): "waiting \(failure.map { "\($0)".prefix(5) } ?? "")"
            }
        let flags = [transfer.isSecondAddress, transfer.hasHead, transfer.hasContent]
        return text + "|\(transfer.number) \(phase) \(transfer.holds.rawValue) \(flags.map { $0 ? "y" : "n" }.joined())"
    }

    private static func text(_ question: Question) -> String {
        switch question {
        case .stream: "stream"
        case .redirect(let next, let number): "redirect \(number) \(next.url?.path ?? "")"
        case .credential(let number): "credential \(number)"
        case .response(let number): "response \(number)"
        }
    }

    private static func text(_ command: Command) -> String {
        switch command {
        case .start(let number): "start \(number)"
        case .cancel(let number): "cancel \(number)"
        case .hold(let number, let hold): "hold \(number) \(hold.rawValue)"
        case .release(let number, let hold): "release \(number) \(hold.rawValue)"
        }
    }

    private static func text(_ step: Step) -> String {
        switch step {
        case .perform(let action): action.summary
        case .open(let hop): "open \(hop.content.isAvailable) \(hop.request.url?.path ?? "")"
        case .make: "make"
        case .accept(let number): "accept \(number)"
        case .stored(let number): "stored \(number)"
        case .readHold(let number): "hold \(number)"
        }
    }

    /// Values that are made once.
    private enum Fixed {
        static let stream = BodyStream(InputStream(data: Data([1])))
        static let insecure = try? TaskEvent.request("http://localhost/")
        static let authorization = Result { try TaskEvent.credential.authorization() }
        private static let heads: [TaskEvent] = [
            .head, .cookies, .refusedRedirect, .plain401, .redirect, .cookiesAndRedirect, .challenge, .challengeTwice,
            .cookiesAndChallenge, .staleChallenge, .cookiesAndStaleChallenge,
        ]
        private static let responses = Result {
            try [TaskEvent.request(), TaskEvent.request("https://localhost/next")].map { request in
                try Dictionary(uniqueKeysWithValues: heads.map { ($0, try $0.received(by: request)) })
            }
        }

        static func received(_ event: TaskEvent, isSecondAddress: Bool) throws -> ReceivedResponse {
            guard let received = try responses.get()[isSecondAddress ? 1 : 0][event] else { throw URLError(.unknown) }
            return received
        }
    }
}
