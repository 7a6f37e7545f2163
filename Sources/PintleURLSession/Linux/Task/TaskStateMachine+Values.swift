internal import Foundation
internal import FoundationNetworking

/// Values that the loader reads from the state.
extension TaskStateMachine {
    var phase: URLSessionTask.State {
        switch state {
        case .idle: .suspended
        case .live(let live): live.suspensions > 0 ? .suspended : .running
        case .cancelling: .canceling
        case .ended: .completed
        }
    }

    /// A Boolean value that indicates whether the task was resumed and has not ended, nor is about to end.
    var isLive: Bool {
        if case .live = state { true } else { false }
    }

    var error: URLError? {
        guard case .ended(.failed(let error)) = state else { return nil }
        return error
    }

    /// Uptime in seconds; infinite for a task without a time limit.
    var deadline: Double {
        guard case .live(let live) = state else { return .infinity }
        return live.deadline
    }

    /// The deadline, while the delegate is asked and no transfer runs that would observe it.
    var countdownDeadline: Double? {
        guard case .live(let live) = state, live.deadline < .infinity else { return nil }
        switch live.step {
        case .awaitingStream, .askingAboutCached: return live.deadline
        case .opening, .checkingContent, .preparing, .transferring: return nil
        }
    }

    var authentication: AuthenticationState {
        guard case .live(let live) = state else { return AuthenticationState() }
        return live.authentication
    }

    /// The transfer that runs, if the task is neither over nor about to be.
    var carrier: Carrier? {
        guard case .live(let live) = state else { return nil }
        return live.carrier
    }

    /// The transfer that has yet to end, also of a task that was cancelled.
    var unendedCarrier: Carrier? {
        if case .cancelling(let carrier) = state { carrier } else { carrier }
    }

    /// A Boolean value that indicates whether the task makes room for the content of this transfer.
    func isAccepting(over carrier: Carrier) -> Bool {
        guard case (_, _, .accepting)? = transfer(carrier) else { return false }
        return true
    }

    func isStoringCookies(over carrier: Carrier) -> Bool {
        guard case (_, _, .storingCookies)? = transfer(carrier) else { return false }
        return true
    }

    /// Returns why this transfer must not receive more at present. Suspension and a backlog come on top.
    func hold(of carrier: Carrier) -> TransferHold {
        guard case (_, _, let stage)? = transfer(carrier) else { return [] }
        switch stage {
        case .storingCookies, .asking(.redirect), .asking(.credential), .accepting(_, isHeld: true):
            return [.answer, .choice]
        case .asking(.response): return .answer
        case .loading, .accepting, .receiving, .passing: return []
        }
    }

    /// Returns the parts of the state while this transfer runs.
    func transfer(_ carrier: Carrier) -> (Live, Hop, Stage)? {
        guard case .live(let live) = state, case .transferring(carrier, let hop, let stage) = live.step else {
            return nil
        }
        return (live, hop, stage)
    }
}

extension TaskStateMachine.Live {
    var carrier: Carrier? {
        guard case .transferring(let carrier, _, _) = step else { return nil }
        return carrier
    }
}

extension HTTPURLResponse {
    /// The length of the content as it is handed over: decoded content is longer than announced.
    var announcedContentLength: Int64 {
        let coding = value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
        return coding.lowercased() == "identity" ? expectedContentLength : NSURLSessionTransferSizeUnknown
    }
}
