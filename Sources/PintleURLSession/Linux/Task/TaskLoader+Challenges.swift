internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Where a task stands with a server that wants to know who asks.
struct AuthenticationState: Sendable {
    /// What goes with each request to its origin; `nil` before anybody has given a credential.
    var authorization: Authorization?
    /// Challenges so far, of all servers, renewals included.
    var challenges = 0
    /// How often a credential has been given, by what its space consists of.
    var given: [[String]: Int] = [:]
}

/// A 401 that may be answered, until it has been.
private struct PendingChallenge: Sendable {
    let transfer: Transfer
    let response: HTTPURLResponse
    let request: URLRequest
    /// What is left, the strongest first.
    var offers: [AuthenticationOffer]
}

extension TaskLoader {
    /// As many challenges as anybody gets wrong by hand; a delegate that never gives up ends here.
    private static let challengeLimit = 20

    /// Answers a 401, or has it answered.
    ///
    /// - Returns: `nil` where there is nothing to answer and the response is handed over.
    func challenge(
        _ transfer: Transfer, _ head: ResponseHead, _ response: HTTPURLResponse, to request: URLRequest
    ) -> TransferHold? {
        guard head.status == 401 else {
            keepCredential(that: response, hasTaken: transfer.request.url)
            return nil
        }
        let offers = AuthenticationOffer.offers(in: head.values(of: "www-authenticate"))
        guard !offers.isEmpty else { return nil }
        let (isRenewed, count) = state.withLock { state -> (Bool, Int) in
            state.authentication.challenges += 1
            let count = state.authentication.challenges
            guard count <= Self.challengeLimit, let known = state.authentication.authorization,
                known.origin.hasSameOrigin(as: transfer.request.url),
                let stale = offers.first(where: { $0.renews(known.offer) })
            else { return (false, count) }
            state.authentication.authorization?.renew(stale)
            return (true, count)
        }
        guard count <= Self.challengeLimit else { return nil }
        if isRenewed {
            follow(request, after: transfer)
            return []
        }
        ask(PendingChallenge(transfer: transfer, response: response, request: request, offers: offers))
        return [.answer, .choice]
    }

    private func ask(_ pending: PendingChallenge) {
        guard state.withLock({ $0.awaits(pending.transfer) }) else { return }
        guard let offer = pending.offers.first else { return handOver(pending.transfer, pending.response) }
        let space = offer.protectionSpace(of: pending.transfer.request.url)
        let stored = session.credentials.credential(for: space)
        let (last, failures) = state.withLock { state in
            let known = state.authentication.authorization
            let isSame = known?.origin.hasSameOrigin(as: pending.transfer.request.url) == true
            return (isSame ? known?.credential : nil, state.authentication.given[space.parts] ?? 0)
        }
        // One that has just been refused is no proposal.
        let isNew = stored?.user != last?.user || stored?.password != last?.password
        let proposed = isNew ? stored : nil
        let sender = ChallengeSender { [weak self] answer in
            guard let self else { return }
            switch answer.disposition {
            case .useCredential: use(answer.credential, for: offer, in: space, pending)
            case .performDefaultHandling: use(proposed, for: offer, in: space, pending)
            case .rejectProtectionSpace:
                var pending = pending
                pending.offers.removeFirst()
                ask(pending)
            case .cancelAuthenticationChallenge: cancel()
            }
        }
        guard let delegate else { return sender.take(.performDefaultHandling) }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: proposed, previousFailureCount: failures,
            failureResponse: pending.response, error: nil, sender: sender)
        tell { session, task in
            delegate.urlSession(session, task: task, didReceive: challenge) { sender.take($0, $1) }
        }
    }

    private func use(
        _ credential: URLCredential?, for offer: AuthenticationOffer, in space: URLProtectionSpace,
        _ pending: PendingChallenge
    ) {
        guard let credential, credential.user != nil else { return handOver(pending.transfer, pending.response) }
        let origin = pending.transfer.request.url
        state.withLock { state in
            guard state.awaits(pending.transfer) else { return }
            state.authentication.given[space.parts, default: 0] += 1
            state.authentication.authorization = Authorization(credential, for: offer, in: space, at: origin)
        }
        follow(pending.request, after: pending.transfer)
        release([.answer, .choice], of: pending.transfer)
    }

    /// A credential that was not refused is worth remembering.
    private func keepCredential(that response: HTTPURLResponse, hasTaken url: CurlURL) {
        guard let authorization = state.withLock({ $0.authentication.authorization }),
            authorization.origin.hasSameOrigin(as: url)
        else { return }
        session.credentials.keep(authorization.credential, for: authorization.space)
    }
}

extension URLProtectionSpace {
    /// Foundation for Linux compares spaces by identity.
    fileprivate var parts: [String] {
        [`protocol` ?? "", host.lowercased(), "\(port)", realm ?? "", authenticationMethod]
    }
}
