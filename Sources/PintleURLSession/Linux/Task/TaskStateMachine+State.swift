internal import Foundation
internal import FoundationNetworking

extension TaskStateMachine {
    enum State: Sendable {
        /// Never resumed. The task starts after as many calls of `resume` as there are suspensions. A task is not admitted
        /// when its session was invalidated before it was made.
        case idle(suspensions: Int, isAdmitted: Bool)
        case live(Live)
        /// Cancelled, while a transfer has yet to end.
        case cancelling(Carrier)
        case ended(Outcome)
    }

    /// A task that was resumed and has not ended.
    struct Live: Sendable {
        /// Uptime in seconds; infinite for a task without a time limit.
        let deadline: Double
        var step = Step.opening
        var suspensions = 0
        var redirects = 0
        /// How often the policy has changed before a transfer was sent.
        var supersessions = 0
        var authentication = AuthenticationState()
    }

    enum Step: Sendable {
        /// The content that the task was made with is being read.
        case opening
        /// The loader finds out whether the content of the hop is there.
        case checkingContent(Hop)
        /// The loader looks into the cache, or makes a transfer.
        case preparing(Hop)
        case awaitingStream(Hop)
        case askingAboutCached(CachedURLResponse)
        case transferring(Carrier, Hop, Stage)
    }

    /// How far a transfer has come.
    enum Stage: Sendable {
        case loading
        case storingCookies(Reception)
        /// The transfer is held until the delegate answers.
        case asking(Question)
        /// Room for the content is being made.
        case accepting(HTTPURLResponse, isHeld: Bool)
        case receiving
        /// The content belongs to a response that is not the last. It is read and discarded, to keep the connection.
        case passing(next: Hop, discarded: Int)
    }

    enum Question: Sendable {
        case redirect(HTTPURLResponse)
        case credential(PendingChallenge)
        /// The delegate is asked whether it wants the content.
        case response
    }

    enum Answer: Sendable {
        /// The request that follows a redirect; `nil` makes the redirect the response.
        case redirect(URLRequest?)
        case credential(Authorization)
        case noCredential
        /// Rejects the first way to answer a challenge.
        case nextOffer
        case stream(BodyStream?)
        /// The content of the response is wanted.
        case allow
        case refuse(SessionRefusal)
    }

    enum Outcome: Sendable {
        case succeeded
        case failed(URLError)
    }

    /// The part that the delegate has in a response.
    enum Listener: Sendable {
        case none
        /// It is shown the response.
        case informed
        /// It is asked whether it wants the content.
        case asked
    }

    /// The use of a piece of content.
    enum ContentUse: Sendable {
        case keep
        case discard
        /// Ends the transfer.
        case refuse
    }
}

extension TaskStateMachine {
    /// A step that the loader has to take after a transition, in the order of the list.
    enum Action: Sendable {
        /// Lets the session keep a task that was made after the session had been invalidated.
        case keepTask
        /// Reads the content that the task was made with; answer with ``TaskStateMachine/opened(_:)``.
        case openContent
        /// Checks whether the content of the hop is there; answer with ``TaskStateMachine/hasContent()`` or
        /// ``TaskStateMachine/lacksContent(canAsk:)``.
        case checkContent(Hop)
        /// Looks into the cache, or makes a transfer; answer with ``TaskStateMachine/hasTransport()``, then with
        /// ``TaskStateMachine/foundInCache(_:by:)`` or ``TaskStateMachine/made(_:authorization:)``.
        case makeTransfer(Hop)
        /// Lets the deadline of the task run on, while there is no transfer that would observe it.
        case startCountdown
        case askForStream(Hop)
        case askAboutRedirect(HTTPURLResponse, to: URLRequest, Carrier)
        case askForCredential(PendingChallenge, Carrier)
        /// Asks the delegate whether it wants the content. There is no carrier for a response from the cache.
        case askAboutResponse(URLResponse, Carrier?)
        /// Shows the response to the delegate of an async call, whose answer does not count.
        case showResponse(URLResponse)
        case showContent(of: CachedURLResponse)
        case start(Carrier, Hop)
        /// Holds the transfer while the task is suspended, and releases it otherwise, by the state at that time.
        case adjustSuspension(Carrier)
        case release(Carrier, TransferHold)
        case cancelTransfer(Carrier)
        /// Stores the cookies of a response; answer with ``TaskStateMachine/storedCookies(over:canAsk:)``.
        case storeCookies(Reception, Hop, Carrier)
        /// Remembers a credential that the server has accepted.
        case storeCredential(Authorization)
        /// Makes room for the content; answer with ``TaskStateMachine/accepted(over:by:)``.
        case accept(HTTPURLResponse, Hop, Carrier)
        /// Puts the response into the cache, if it was found worth it.
        case storeResponse
        case finish(Outcome)
    }
}
