import Foundation
import Pintle
import Security

/// The answer to a challenge, and the reason for it.
public struct ChallengeAnswer: Sendable {
    /// The disposition to call the completion handler with.
    public let disposition: URLSession.AuthChallengeDisposition
    /// Only where the policy brings private anchors, or a person has approved the server: the system, asked by
    /// itself, would refuse it. Elsewhere the system answers for itself.
    public let credential: URLCredential?
    /// Why the server was refused; `nil` where it was not.
    public let rejection: TrustRejection?
    /// The verdict in full; `nil` where the challenge is not about a server's trust, or nobody could be asked.
    public let evaluation: TrustEvaluation?

    /// Not this package's to answer.
    static let standard = ChallengeAnswer(
        disposition: .performDefaultHandling, credential: nil, rejection: nil, evaluation: nil)

    static func refused(_ rejection: TrustRejection, _ evaluation: TrustEvaluation? = nil) -> ChallengeAnswer {
        ChallengeAnswer(
            disposition: .cancelAuthenticationChallenge, credential: nil, rejection: rejection, evaluation: evaluation)
    }
}

extension URLAuthenticationChallenge {
    /// Whether it asks about the certificates of the server that the request is for. A proxy's are the system's to
    /// judge: no policy names a proxy.
    var isAboutServerTrust: Bool {
        protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust && !protectionSpace.isProxy()
    }

    /// The server that is asked about; `nil` where its name cannot be read.
    var server: ServerEndpoint? {
        let port = protectionSpace.port == 0 ? 443 : UInt16(exactly: protectionSpace.port)
        guard let port, let host = try? ServerName(protectionSpace.host) else { return nil }
        return ServerEndpoint(host: host, port: port)
    }
}

extension ServerTrustEvaluator {
    /// Answers a challenge, for delegates of your own:
    ///
    ///     let answer = evaluator.evaluate(challenge)
    ///     if let rejection = answer.rejection { log(rejection) }
    ///     completionHandler(answer.disposition, answer.credential)
    ///
    /// A challenge that is not about a server's trust gets `performDefaultHandling`: answer passwords and client
    /// certificates before you ask. It answers at once and the system evaluates meanwhile, which may take its time:
    /// never call it on the main queue.
    ///
    /// - Parameter instant: now.
    public func evaluate(_ challenge: URLAuthenticationChallenge, at instant: Date = Date()) -> ChallengeAnswer {
        guard challenge.isAboutServerTrust else { return .standard }
        guard let server = challenge.server else {
            return .refused(.invalidPath(PathFailure(.nameMismatch, text: "the host of the challenge cannot be read")))
        }
        guard let trust = challenge.protectionSpace.serverTrust else {
            return .refused(.invalidPath(PathFailure(.emptyChain, text: "the challenge brings no certificate")))
        }
        let (evaluation, isPrivate) = judge(server, trust, at: instant)
        switch evaluation.decision {
        case .rejected(let rejection): return .refused(rejection, evaluation)
        case .trusted:
            return ChallengeAnswer(
                disposition: isPrivate ? .useCredential : .performDefaultHandling,
                credential: isPrivate ? URLCredential(trust: trust) : nil, rejection: nil, evaluation: evaluation)
        }
    }
}
