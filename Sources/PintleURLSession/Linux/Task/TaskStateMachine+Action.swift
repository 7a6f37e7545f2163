internal import FoundationNetworking

extension TaskStateMachine {
    /// What the loader has to do after a transition, in this order.
    enum Action: Sendable {
        /// Lets the session keep a task that was made after the session had been invalidated.
        case keepTask
        /// Reads the content that the task was made with; answer with ``TaskStateMachine/opened(_:)``.
        case openContent
        /// Checks whether the content of the hop is there; answer with ``TaskStateMachine/hasContent()`` or
        /// ``TaskStateMachine/lacksContent(canAsk:)``.
        case checkContent(Hop)
        /// Looks into the cache, or makes a transfer; answer with ``TaskStateMachine/foundInCache(_:by:)`` or
        /// ``TaskStateMachine/made(_:authorization:)``.
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
