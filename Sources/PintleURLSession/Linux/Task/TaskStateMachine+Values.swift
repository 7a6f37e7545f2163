internal import Foundation
internal import FoundationNetworking

/// Values of the state for the loader.
extension TaskStateMachine {
    var phase: URLSessionTask.State {
        switch state {
        case .idle: .suspended
        case .live(let live): live.suspensions > 0 ? .suspended : .running
        case .cancelling: .canceling
        case .ended: .completed
        }
    }

    /// A Boolean value that indicates whether the task was resumed, has not ended and is not being cancelled.
    var isLive: Bool {
        if case .live = state { true } else { false }
    }

    var error: URLError? {
        guard case .ended(.failed(let error)) = state else { return nil }
        return error
    }

    /// The deadline as system uptime in seconds; infinite for a task without a time limit.
    var deadline: Double {
        guard case .live(let live) = state else { return .infinity }
        return live.deadline
    }

    /// The deadline, if the app is asked while no transfer runs that would check it; otherwise `nil`.
    var countdownDeadline: Double? {
        guard case .live(let live) = state, live.deadline < .infinity else { return nil }
        switch live.step {
        case .preparing, .awaitingStream: return live.deadline
        case .transferring: return nil
        }
    }

    /// A Boolean value that indicates whether the loader prepares a request.
    var isPreparing: Bool {
        guard case .live(let live) = state, case .preparing = live.step else { return false }
        return true
    }

    /// The number of times that the server has refused the request.
    var refusals: Int {
        guard case .live(let live) = state else { return 0 }
        return live.refusal?.count ?? 0
    }

    var authentication: AuthenticationState {
        guard case .live(let live) = state else { return AuthenticationState() }
        return live.authentication
    }

    /// The running transfer; `nil` if the task has ended or is being cancelled.
    var carrier: Carrier? {
        guard case .live(let live) = state else { return nil }
        return live.carrier
    }

    /// The transfer that has not ended yet, even if the task is being cancelled.
    var unendedCarrier: Carrier? {
        if case .cancelling(let carrier) = state { carrier } else { carrier }
    }

    /// Returns `true` if the loader prepares a file or buffer for the content of this transfer.
    func isAccepting(over carrier: Carrier) -> Bool {
        guard case (_, _, .accepting)? = transfer(carrier) else { return false }
        return true
    }

    func isStoringCookies(over carrier: Carrier) -> Bool {
        guard case (_, _, .storingCookies)? = transfer(carrier) else { return false }
        return true
    }

    /// Returns the reasons in the state why this transfer must not receive more. The loader adds suspension and a
    /// backlog.
    func hold(of carrier: Carrier) -> TransferHold {
        guard case (_, _, let stage)? = transfer(carrier) else { return [] }
        switch stage {
        case .storingCookies: return [.answer, .choice, .cookies]
        case .asking(.redirect), .asking(.credential), .accepting(_, isHeld: true): return [.answer, .choice]
        case .asking(.response): return .answer
        case .loading, .accepting, .receiving, .discarding: return []
        }
    }

    /// Returns the parts of the state while this transfer runs, or `nil`.
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

/// The byte counts of a task. An unknown total is `NSURLSessionTransferSizeUnknown` (-1).
struct TaskProgress: Sendable, Equatable {
    var received: Int64 = 0
    var expectedToReceive: Int64 = 0
    var sent: Int64 = 0
    var expectedToSend: Int64 = 0
}
