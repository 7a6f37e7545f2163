internal import Foundation
internal import FoundationNetworking

/// Takes the answer to a challenge, whichever way it comes: through the completion handler, or through the
/// older methods of the challenge's sender.
final class ChallengeSender: NSObject, URLAuthenticationChallengeSender, Sendable {
    struct Answer: Sendable {
        let disposition: URLSession.AuthChallengeDisposition
        var credential: URLCredential?
    }

    private let answer: OnceAnswered<Answer>

    init(_ answer: @escaping @Sendable (Answer) -> Void) {
        self.answer = OnceAnswered(answer)
    }

    func take(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential? = nil) {
        answer.take(Answer(disposition: disposition, credential: credential))
    }

    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {
        take(.useCredential, credential)
    }

    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { take(.useCredential) }
    func cancel(_ challenge: URLAuthenticationChallenge) { take(.cancelAuthenticationChallenge) }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { take(.performDefaultHandling) }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { take(.rejectProtectionSpace) }
}
