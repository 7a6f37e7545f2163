internal import Foundation
internal import FoundationNetworking

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
