internal import Foundation
internal import FoundationNetworking

/// The states of a task of any class. A task runs one transfer after the other, until it has a final response or an
/// error.
///
/// The machine is pure: it has no lock, does no input or output and calls no callbacks. Each method takes an event,
/// moves to the next state and returns the actions for the loader. An event that a state does not expect returns no
/// action and changes nothing: a delegate may answer after the task was cancelled, and a transfer may end while another
/// thread cancels it.
///
/// `Carrier` identifies the running transfer. Tests use numbers.
struct TaskStateMachine<Carrier: Equatable & Sendable>: Sendable {
    private(set) var state: State
    /// The request of the current hop.
    private(set) var request: URLRequest
    /// The final response.
    private(set) var response: URLResponse?
    private(set) var progress = TaskProgress()

    /// The number of policy changes after which a task gives up. Each change before the request is sent restarts the
    /// transfer.
    static var supersessionLimit: Int { 64 }
    /// The number of bytes that are read and discarded from a response that is not final, so that the connection can be
    /// reused. A longer response ends the transfer.
    static var discardLimit: Int { 256 << 10 }

    private let first: Hop

    /// - Parameter first: the first request.
    init(_ first: Hop) {
        self.first = first
        request = first.request
        state = .idle(suspensions: 1, isAdmitted: false)
    }
}

// MARK: Commands of the app

extension TaskStateMachine {
    /// Records that the session lists the task.
    mutating func admitted() {
        guard case .idle(let suspensions, _) = state else { return }
        state = .idle(suspensions: suspensions, isAdmitted: true)
    }

    /// Starts the task, or ends one suspension.
    ///
    /// - Parameter deadline: the system uptime in seconds at which the task times out. Evaluated only if this call
    ///   starts it.
    mutating func resume(deadline: @autoclosure () -> Double) -> [Action] {
        switch state {
        case .idle(let suspensions, let isAdmitted) where suspensions > 1:
            state = .idle(suspensions: suspensions - 1, isAdmitted: isAdmitted)
            return []
        case .idle(_, isAdmitted: false):
            return [.keepTask] + end(.cancelled)
        case .idle:
            state = .live(Live(deadline: deadline(), step: .preparing(first)))
            return [.prepare(first)]
        case .live(var live) where live.suspensions > 0:
            live.suspensions -= 1
            state = .live(live)
            return live.suspensions == 0 ? live.carrier.map { [.adjustSuspension($0)] } ?? [] : []
        case .live, .cancelling, .ended:
            return []
        }
    }

    mutating func suspend() -> [Action] {
        switch state {
        case .idle(let suspensions, let isAdmitted):
            state = .idle(suspensions: suspensions + 1, isAdmitted: isAdmitted)
            return []
        case .live(var live):
            live.suspensions += 1
            state = .live(live)
            return live.suspensions == 1 ? live.carrier.map { [.adjustSuspension($0)] } ?? [] : []
        case .cancelling, .ended:
            return []
        }
    }

    mutating func cancel() -> [Action] {
        switch state {
        case .idle(_, let isAdmitted):
            return (isAdmitted ? [] : [.keepTask]) + end(.cancelled)
        case .live(let live):
            guard let carrier = live.carrier else { return end(.cancelled) }
            state = .cancelling(carrier)
            return [.cancelTransfer(carrier)]
        case .cancelling, .ended:
            return []
        }
    }
}

// MARK: Hops

extension TaskStateMachine {
    /// Handles the event that the content of the hop can be sent and that there is a transport. From here on failures
    /// belong to the hop's request; earlier ones belong to the previous request.
    ///
    /// - Parameter hop: the hop with the size of its content.
    mutating func opened(_ hop: Hop) -> [Action] {
        guard case .live(var live) = state, case .preparing = live.step else { return [] }
        live.step = .preparing(hop)
        state = .live(live)
        request = hop.request
        // A hop without content does not reset the count: the bytes that an earlier request sent still count.
        if !hop.content.isNone {
            (progress.sent, progress.expectedToSend) = (0, hop.content.size ?? NSURLSessionTransferSizeUnknown)
        }
        return []
    }

    /// Handles the event that the hop needs a stream, either for the first time or because the last one was used up.
    ///
    /// - Parameter canAsk: A Boolean value that indicates whether there is a delegate.
    mutating func lacksContent(canAsk: Bool) -> [Action] {
        guard case .live(var live) = state, case .preparing(let hop) = live.step else { return [] }
        guard canAsk else { return end(live.failureWithoutStream) }
        live.step = .awaitingStream(hop)
        state = .live(live)
        return [.startCountdown, .askForStream(hop)]
    }

    /// Handles the event that a transfer was made, which has not started yet.
    ///
    /// - Parameter authorization: the authorization after it was used for this request, with its nonce count raised.
    mutating func made(_ carrier: Carrier, authorization: Authorization?) -> [Action] {
        guard case .live(var live) = state, case .preparing(let hop) = live.step else { return [] }
        live.authentication.authorization = authorization
        live.step = .transferring(carrier, hop, .loading)
        state = .live(live)
        let start = Action.start(carrier, hop)
        return live.suspensions > 0 ? [.adjustSuspension(carrier), start] : [start]
    }

    /// Ends the task because the loader cannot continue.
    ///
    /// - Parameter carrier: the transfer that failed, if one runs.
    mutating func failed(_ failure: TransferError, over carrier: Carrier? = nil) -> [Action] {
        guard case .live(let live) = state, live.carrier == carrier else { return [] }
        return end(failure) + (carrier.map { [.cancelTransfer($0)] } ?? [])
    }

    /// Ends the task at its deadline, when no transfer runs that would have checked it.
    mutating func reachedDeadline() -> [Action] {
        guard countdownDeadline != nil else { return [] }
        return end(.timedOut)
    }

    private mutating func begin(_ hop: Hop, _ live: inout Live, after last: Carrier? = nil) -> [Action] {
        live.step = .preparing(hop)
        state = .live(live)
        return [last.map { .prepareNext(hop, after: $0) } ?? .prepare(hop)]
    }

    private mutating func end(_ failure: TransferError?) -> [Action] { [finish(failure)] }

    private mutating func finish(_ failure: TransferError?) -> Action {
        let outcome = failure.map { Outcome.failed(URLError($0, url: request.url)) } ?? .succeeded
        state = .ended(outcome)
        return .finish(outcome)
    }
}

// MARK: Events of a transfer

extension TaskStateMachine {
    /// Handles the head of a response.
    ///
    /// - Parameter canAsk: A Boolean value that indicates whether there is a delegate.
    mutating func receivedHead(_ received: ReceivedResponse, over carrier: Carrier, canAsk: Bool) -> [Action] {
        guard case (var live, let hop, .loading)? = transfer(carrier) else { return [] }
        live.refusal = nil
        guard let cookies = received.cookies else {
            return proceed(received, carrier, hop, &live, isHeld: false, canAsk: canAsk)
        }
        live.step = .transferring(carrier, hop, .storingCookies(received))
        state = .live(live)
        return [.storeCookies(cookies, carrier)]
    }

    /// Handles the event that the cookies of the response are stored.
    mutating func storedCookies(over carrier: Carrier, canAsk: Bool) -> [Action] {
        guard case (var live, let hop, .storingCookies(let received))? = transfer(carrier) else { return [] }
        return proceed(received, carrier, hop, &live, isHeld: true, canAsk: canAsk)
    }

    /// Handles the event that the file or buffer for the content is ready.
    mutating func accepted(over carrier: Carrier, by listener: Listener) -> [Action] {
        guard case (var live, let hop, .accepting(let accepted, let isHeld))? = transfer(carrier) else { return [] }
        response = accepted
        progress.expectedToReceive = accepted.announcedContentLength
        live.step = .transferring(carrier, hop, listener == .asked ? .asking(.response) : .receiving)
        state = .live(live)
        switch listener {
        case .asked:
            return [.askAboutResponse(accepted, carrier)] + (isHeld ? [.release(carrier, .choice)] : [])
        case .informed, .none:
            return (listener == .informed ? [.showResponse(accepted)] : [])
                + (isHeld ? [.release(carrier, [.answer, .choice])] : [])
        }
    }

    /// Decides about a piece of content.
    ///
    /// - Parameter count: the size of the decoded content in bytes.
    mutating func receivedData(_ count: Int, over carrier: Carrier) -> ContentUse {
        // The task has ended or is being cancelled.
        guard case (var live, let hop, let stage)? = transfer(carrier) else { return .discard }
        switch stage {
        case .receiving:
            progress.received += Int64(count)
            return .keep
        case .discarding(let next, let discarded):
            live.step = .transferring(carrier, hop, .discarding(before: next, count: discarded + count))
            state = .live(live)
            return discarded + count > Self.discardLimit ? .refuse : .discard
        // The transfer is held. Without this piece the content must not pass for complete.
        case .loading, .storingCookies, .asking, .accepting: return .refuse
        }
    }

    /// Counts sent bytes.
    ///
    /// - Returns: `false` if the transfer no longer belongs to the task.
    mutating func sent(_ count: Int, over carrier: Carrier) -> Bool {
        guard transfer(carrier) != nil else { return false }
        progress.sent += Int64(count)
        return true
    }

    /// Handles the last event of a transfer.
    ///
    /// - Parameters:
    ///   - failure: the failure, or `nil` for a complete response.
    ///   - uptime: the system uptime of the event in seconds.
    mutating func completed(
        _ carrier: Carrier, _ failure: TransferError?, at uptime: @autoclosure () -> Double
    ) -> [Action] {
        if case .cancelling(carrier) = state { return end(.cancelled) }
        guard case (var live, let hop, let stage)? = transfer(carrier) else { return [] }
        switch (stage, failure) {
        // The task's deadline has passed too, so do not start its next request.
        case (.discarding, .timedOut) where live.deadline <= uptime(): return end(.timedOut)
        // The next request does not depend on how the discarded content ended.
        case (.discarding(let next, _), _): return begin(next, &live, after: carrier)
        case (.loading, .superseded) where live.supersessions < Self.supersessionLimit:
            live.supersessions += 1
            return begin(hop, &live, after: carrier)
        // Ask the delegate for the content again. Other content was sent again before.
        case (.loading, .unprocessed(let text, let refusals))
        where !hop.content.isAvailable && refusals < Transfer.refusalLimit:
            live.refusal = (text, refusals + 1)
            return begin(hop, &live, after: carrier)
        case (.receiving, nil): return end(nil)
        case (_, let failure): return end(failure ?? .withoutResponse)
        }
    }

    /// Handles the delegate's answer.
    ///
    /// - Parameter carrier: the transfer that was held for the answer; `nil` if none runs.
    mutating func answered(_ answer: Answer, about carrier: Carrier?) -> [Action] {
        guard let carrier else { return answeredWithoutTransfer(answer) }
        guard case (var live, let hop, .asking(let question))? = transfer(carrier) else { return [] }
        switch (question, answer) {
        case (.redirect(let response), .redirect(let next?)):
            do throws(SessionError) {
                try Redirect.refuseDowngrade(from: response.url, to: next.url)
            } catch {
                return failed(.refused(error), over: carrier)
            }
            return follow(next, carrier, hop, &live, isHeld: true)
        case (.redirect(let response), .redirect(nil)):
            return accept(response, carrier, hop, &live, isHeld: true)
        case (.credential, .credential(let authorization)):
            live.authentication.use(authorization)
            return follow(hop.request, carrier, hop, &live, isHeld: true)
        case (.credential(let pending), .noCredential):
            return accept(pending.response, carrier, hop, &live, isHeld: true)
        case (.credential(var pending), .nextOffer):
            pending.offers.removeFirst()
            guard !pending.offers.isEmpty else { return accept(pending.response, carrier, hop, &live, isHeld: true) }
            live.step = .transferring(carrier, hop, .asking(.credential(pending)))
            state = .live(live)
            return [.askForCredential(pending, carrier)]
        case (.response, .allow):
            live.step = .transferring(carrier, hop, .receiving)
            state = .live(live)
            return [.release(carrier, .answer)]
        case (.response, .refuse(let refusal)):
            return failed(.refused(refusal), over: carrier)
        default: return []
        }
    }

    private mutating func answeredWithoutTransfer(_ answer: Answer) -> [Action] {
        guard case .live(var live) = state else { return [] }
        switch (live.step, answer) {
        case (.awaitingStream(let hop), .stream(let stream)):
            guard let stream else { return end(live.failureWithoutStream) }
            return begin(hop.with(.stream(stream, size: hop.request.declaredContentLength)), &live)
        default: return []
        }
    }

    /// - Parameter isHeld: A Boolean value that indicates whether the transfer is held, so that it has to be released.
    private mutating func proceed(
        _ received: ReceivedResponse, _ carrier: Carrier, _ hop: Hop, _ live: inout Live, isHeld: Bool, canAsk: Bool
    ) -> [Action] {
        let response = received.response
        switch received.meaning {
        case .refused(let refusal): return failed(.refused(refusal), over: carrier)
        case .redirect(let next):
            live.redirects += 1
            guard live.redirects <= Redirect.limit else {
                let text = "more than \(Redirect.limit) redirects"
                return failed(.refused(SessionError(.tooManyRedirects, text)), over: carrier)
            }
            guard canAsk else { return follow(next, carrier, hop, &live, isHeld: isHeld) }
            live.step = .transferring(carrier, hop, .asking(.redirect(response)))
            state = .live(live)
            return [.askAboutRedirect(response, to: next, carrier)]
        case .challenge(let offers) where !offers.isEmpty:
            switch live.authentication.receiveChallenge(offers, from: received.url) {
            case .giveUp: return accept(response, carrier, hop, &live, isHeld: isHeld)
            case .renewed: return follow(hop.request, carrier, hop, &live, isHeld: isHeld)
            case .ask:
                let pending = PendingChallenge(response: response, url: received.url, offers: offers)
                live.step = .transferring(carrier, hop, .asking(.credential(pending)))
                state = .live(live)
                return [.askForCredential(pending, carrier)]
            }
        case .challenge: return accept(response, carrier, hop, &live, isHeld: isHeld)
        case .content:
            let accepted = live.authentication.accepted(by: received.url)
            let actions = accept(response, carrier, hop, &live, isHeld: isHeld)
            return accepted.map { [.storeCredential($0)] + actions } ?? actions
        }
    }

    private mutating func follow(
        _ next: URLRequest, _ carrier: Carrier, _ hop: Hop, _ live: inout Live, isHeld: Bool
    ) -> [Action] {
        live.step = .transferring(carrier, hop, .discarding(before: hop.following(with: next), count: 0))
        state = .live(live)
        return isHeld ? [.release(carrier, [.answer, .choice])] : []
    }

    private mutating func accept(
        _ response: PinnedHTTPURLResponse, _ carrier: Carrier, _ hop: Hop, _ live: inout Live, isHeld: Bool
    ) -> [Action] {
        live.step = .transferring(carrier, hop, .accepting(response, isHeld: isHeld))
        state = .live(live)
        return [.accept(response, carrier)]
    }
}
