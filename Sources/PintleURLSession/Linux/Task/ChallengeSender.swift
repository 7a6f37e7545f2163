internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// The receiver of a delegate's answer to a challenge. The delegate answers through the completion handler or through
/// the older methods of the challenge's sender.
final class ChallengeSender: NSObject, URLAuthenticationChallengeSender, Sendable {
    struct Answer: Sendable {
        let disposition: URLSession.AuthChallengeDisposition
        var credential: URLCredential?
    }

    private let handler: OnceAnswered<Answer>

    init(_ answer: @escaping @Sendable (Answer) -> Void) {
        handler = OnceAnswered(answer)
    }

    func answer(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
        handler.answer(Answer(disposition: disposition, credential: credential))
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        answer(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer(.useCredential) }
    func cancel(_ challenge: URLAuthenticationChallenge) { answer(.cancelAuthenticationChallenge) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer(.performDefaultHandling) }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { answer(.rejectProtectionSpace) }
}

/// A completion handler that ignores all calls but the first.
///
/// A delegate may keep the handler for ever. So the action must not hold the task's loader, the delegate or the
/// transport.
final class OnceAnswered<Value>: Sendable {
    private let action: Mutex<(@Sendable (Value) -> Void)?>

    init(_ action: @escaping @Sendable (Value) -> Void) {
        self.action = Mutex(action)
    }

    func answer(_ value: Value) {
        let first = action.withLock { action in
            defer { action = nil }
            return action
        }
        first?(value)
    }
}
