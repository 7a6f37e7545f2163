import Foundation
import Pintle

/// The answer to a challenge, and the reason for it.
public struct ChallengeAnswer: Sendable {
    /// The disposition to call the completion handler with.
    public let disposition: URLSession.AuthChallengeDisposition
    /// The credential, if the system by itself would refuse the server: the policy has private anchors, or the user has
    /// approved the server. Otherwise `nil`, and the system's own check applies too.
    public let credential: URLCredential?
    /// The reason why the server was refused; `nil` if it was not.
    public let rejection: TrustRejection?
    /// The complete verdict; `nil` if the challenge is not about a server's trust, or if its host cannot be read.
    public let evaluation: TrustEvaluation?

    /// The answer to a challenge that this package does not handle.
    static let standard = ChallengeAnswer(
        disposition: .performDefaultHandling, credential: nil, rejection: nil, evaluation: nil)

    static func refused(_ rejection: TrustRejection, _ evaluation: TrustEvaluation?) -> ChallengeAnswer {
        ChallengeAnswer(
            disposition: .cancelAuthenticationChallenge, credential: nil, rejection: rejection, evaluation: evaluation)
    }
}

extension URLAuthenticationChallenge {
    /// A Boolean value that indicates whether the challenge is about the certificates of the server that the request is
    /// for. The system checks a proxy's certificates, because no policy names a proxy.
    var isAboutServerTrust: Bool {
        protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust && !protectionSpace.isProxy()
    }

    /// The server that the challenge is about; `nil` if its name cannot be read.
    var server: ServerEndpoint? {
        let port = protectionSpace.port == 0 ? 443 : UInt16(exactly: protectionSpace.port)
        guard let port, let host = try? ServerName(protectionSpace.host) else { return nil }
        return ServerEndpoint(host: host, port: port)
    }

    /// Returns the disposition of a challenge that is not about a server's trust, if no delegate answers it.
    ///
    /// A host that the policy covers gets no client certificate. With default handling macOS may choose an identity.
    /// The verdict on the server cannot allow that: two challenges with the same host and port may be about two
    /// connections, and the other one may lead to an interceptor. The connection goes on without a certificate, because
    /// many servers only ask for one.
    func defaultDisposition(_ policy: PinningPolicy) -> URLSession.AuthChallengeDisposition {
        // No policy names a proxy.
        guard protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate,
            !protectionSpace.isProxy()
        else { return .performDefaultHandling }
        // A name that cannot be read may be that of a covered host.
        return server.map(policy.covers) ?? true ? .rejectProtectionSpace : .performDefaultHandling
    }
}

extension ServerTrustEvaluator {
    /// Answers a challenge, for use in delegates of your own:
    ///
    ///     let answer = evaluator.evaluate(challenge)
    ///     if let rejection = answer.rejection { log(rejection) }
    ///     completionHandler(answer.disposition, answer.credential)
    ///
    /// A challenge that is not about a server's trust gets `performDefaultHandling`. So answer challenges for passwords
    /// and client certificates before you call this method.
    ///
    /// A challenge without certificates is refused with the path failure `empty-chain`, and the handlers of
    /// ``/Pintle/ServerTrustEvaluator/onFailure(_:)`` get an event. A challenge whose host cannot be read is refused
    /// with `name-mismatch`, without an event, because there is no server to name.
    ///
    /// The call blocks while the system evaluates, which may take some time: never call it on the main queue.
    /// Asynchronous code calls the other method of this name, which does not block.
    ///
    /// - Parameters:
    ///   - challenge: The challenge that the delegate got.
    ///   - instant: The current time.
    public func evaluate(_ challenge: URLAuthenticationChallenge, at instant: Date = Date()) -> ChallengeAnswer {
        guard challenge.isAboutServerTrust else { return .standard }
        let trust = challenge.protectionSpace.serverTrust
        guard let server = challenge.server else {
            if let trust { SystemValidation(trust).leaveUntrusted() }
            let failure = PathFailure(.nameMismatch, text: "the host of the challenge cannot be read")
            return .refused(.invalidPath(failure), nil)
        }
        guard let trust else {
            let failure = PathFailure(.emptyChain, text: "the challenge brings no certificate")
            return .refused(.invalidPath(failure), refuse(server, failure, at: instant))
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

    /// Answers a challenge as the synchronous method does, and evaluates on a queue of this package. So it may be
    /// called on the main actor. Cancelling the task does not end the evaluation.
    ///
    /// - Parameters:
    ///   - challenge: The challenge that the delegate got.
    ///   - instant: The current time.
    nonisolated(nonsending) public func evaluate(
        _ challenge: URLAuthenticationChallenge, at instant: Date = Date()
    ) async -> ChallengeAnswer {
        let handed = Handed(challenge)
        return await withCheckedContinuation { continuation in
            TrustQueue.async { continuation.resume(returning: evaluate(handed.value, at: instant)) }
        }
    }
}
