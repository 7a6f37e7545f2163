internal import Foundation
internal import FoundationNetworking

extension TaskStateMachine {
    enum State: Sendable {
        /// The task was never resumed. It starts once `resume` has been called as often as there are suspensions.
        /// `isAdmitted` is `false` if the session was invalidated before the task was made.
        case idle(suspensions: Int, isAdmitted: Bool)
        indirect case live(Live)
        /// The task was cancelled, but its transfer has not ended yet.
        case cancelling(Carrier)
        case ended(Outcome)
    }

    /// The state of a task that was resumed and has not ended.
    struct Live: Sendable {
        /// The deadline as system uptime in seconds; infinite for a task without a time limit.
        let deadline: Double
        var step: Step
        var suspensions = 0
        var redirects = 0
        /// The number of times that the policy changed before a transfer was sent.
        var supersessions = 0
        /// The last refusal of a request whose content the delegate has to provide again, and the number of refusals.
        /// It is over when a response begins.
        var refusal: (text: String, count: Int)?
        var authentication = AuthenticationState()

        /// The failure if the delegate gives no stream. After a refusal it says that nothing was processed.
        var failureWithoutStream: TransferError {
            guard let refusal else { return .noBodyStream }
            let hint = ", with another stream from urlSession(_:task:needNewBodyStream:)"
            return .unprocessed(refusal.text + hint, refusals: refusal.count)
        }
    }

    enum Step: Sendable {
        /// The loader opens the content of the hop, or makes a transfer.
        case preparing(Hop)
        case awaitingStream(Hop)
        indirect case transferring(Carrier, Hop, Stage)
    }

    /// The progress of a transfer. Indirect, because each event copies it.
    indirect enum Stage: Sendable {
        case loading
        case storingCookies(ReceivedResponse)
        /// The transfer is held until the delegate answers.
        case asking(Question)
        /// The loader prepares a file or buffer for the content.
        case accepting(PinnedHTTPURLResponse, isHeld: Bool)
        case receiving
        /// The content belongs to a redirect or a challenge, not to the final response. It is read and discarded so
        /// that the connection can be reused.
        case discarding(before: Hop, count: Int)
    }

    enum Question: Sendable {
        case redirect(PinnedHTTPURLResponse)
        case credential(PendingChallenge)
        /// The delegate is asked whether it wants the content.
        case response
    }

    enum Answer: Sendable {
        /// The request that follows a redirect. `nil` makes the redirect the final response.
        case redirect(URLRequest?)
        case credential(Authorization)
        case noCredential
        /// The delegate rejects the first of the challenge's authentication schemes.
        case nextOffer
        case stream(BodyStream?)
        /// The delegate wants the content of the response.
        case allow
        case refuse(SessionError)
    }

    enum Outcome: Sendable {
        case succeeded
        case failed(URLError)
    }

    /// The way in which the delegate takes part in a response.
    enum Listener: Sendable {
        case none
        /// The delegate gets the response, but its answer is ignored.
        case informed
        /// The delegate is asked whether it wants the content.
        case asked
    }

    /// The decision about a piece of content.
    enum ContentUse: Sendable {
        case keep
        case discard
        /// Ends the transfer.
        case refuse
    }
}

extension TaskStateMachine {
    /// A step that the loader has to perform after a transition. The loader performs the steps in the order of the
    /// list.
    enum Action: Sendable {
        /// Lets the session keep a task that was made after the session was invalidated.
        case keepTask
        /// Prepares a request. The loader then calls ``TaskStateMachine/lacksContent(canAsk:)``, or
        /// ``TaskStateMachine/opened(_:)`` and after that ``TaskStateMachine/made(_:authorization:)``.
        case prepare(Hop)
        /// As `prepare`, for a request that follows another one. The event came on the transport's thread, which
        /// must not wait for the storage of cookies. So the loader performs this step on another thread.
        case prepareNext(Hop, after: Carrier)
        /// Starts a timer for the task's deadline, while no transfer runs that would check it.
        case startCountdown
        case askForStream(Hop)
        case askAboutRedirect(PinnedHTTPURLResponse, to: URLRequest, Carrier)
        case askForCredential(PendingChallenge, Carrier)
        /// Asks the delegate whether it wants the content.
        case askAboutResponse(URLResponse, Carrier)
        /// Passes the response to the delegate of an async call, whose answer is ignored.
        case showResponse(URLResponse)
        case start(Carrier, Hop)
        /// Holds the transfer if the task is suspended when this step runs, and releases it otherwise.
        case adjustSuspension(Carrier)
        case release(Carrier, TransferHold)
        case cancelTransfer(Carrier)
        /// Stores the cookies of a response. The loader then calls ``TaskStateMachine/storedCookies(over:canAsk:)``.
        case storeCookies(CookieJar, Carrier)
        /// Stores a credential that the server has accepted.
        case storeCredential(Authorization)
        /// Prepares a file or buffer for the content. The loader then calls ``TaskStateMachine/accepted(over:by:)``.
        case accept(PinnedHTTPURLResponse, Carrier)
        case finish(Outcome)
    }
}
