internal import Foundation
internal import FoundationNetworking
internal import Synchronization

extension TaskLoader {
    private var cachePolicy: URLRequest.CachePolicy {
        let own = originalRequest.cachePolicy
        return own == .useProtocolCachePolicy ? session.settings.requestCachePolicy : own
    }

    private func isCacheable(_ request: URLRequest) -> Bool {
        session.cache.store != nil && !isDownload && state.withLock { $0.authentication.authorization == nil }
            && CacheRules.isCacheable(request, session.settings.httpAdditionalHeaders ?? [:])
    }

    private func acceptedCodings(of request: URLRequest) -> String? {
        CacheRules.acceptedCodings(of: request, session.settings.httpAdditionalHeaders ?? [:])
    }

    /// Answers a request from the cache, or fails it, if its cache policy says so.
    ///
    /// - Returns: whether there is nothing left to load.
    func loadFromCache(_ request: URLRequest, in generation: PolicyGeneration) -> Bool {
        let policy = cachePolicy
        switch policy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad: break
        default: return false
        }
        let wantsFresh = policy == .useProtocolCachePolicy
        if session.cache.knows(request), isCacheable(request),
            let cached = session.cache.answer(
                to: request, accepting: acceptedCodings(of: request), in: generation, wantsFresh: wantsFresh, at: Date()
            )
        {
            deliver(cached)
            return true
        }
        guard policy == .returnCacheDataDontLoad else { return false }
        finish(.notCached)
        return true
    }

    private func deliver(_ cached: CachedURLResponse) {
        state.withLock { state in
            state.response = cached.response
            (state.received, state.expectedToReceive) = (Int64(cached.data.count), Int64(cached.data.count))
        }
        guard case .delegate = delivery, let delegate = delegate as? any URLSessionDataDelegate else {
            state.withLock { $0.content = cached.data }
            guard let delegate = contentDelegate as? any URLSessionDataDelegate else { return finish(nil) }
            tellResponse(cached.response, to: delegate)
            return deliver(cached.data)
        }
        countDown()
        ask(delegate, about: cached.response) { [weak self] in self?.deliver(cached.data) }
    }

    private func deliver(_ content: Data) {
        let isWanted = state.withLock { $0.isLive }
        if isWanted, !content.isEmpty, let delegate = delegate as? any URLSessionDataDelegate {
            tell { session, task in
                guard let task = task as? URLSessionDataTask else { return }
                delegate.urlSession(session, dataTask: task, didReceive: content)
            }
        }
        finish(nil)
    }

    /// Forgets what a request has changed, whatever it is answered with but an error (RFC 9111 section 4.4).
    func forgetContent(changedBy request: URLRequest, _ response: HTTPURLResponse) {
        guard !CacheRules.leavesContent(request.httpMethod), let url = request.url, response.statusCode < 400 else {
            return
        }
        session.cache.forget(url)
    }

    /// Notes an answer that may be worth keeping, once its head is there.
    func consider(_ response: HTTPURLResponse, to request: URLRequest, over transfer: Transfer) {
        let received = Date()
        // A cache must not keep what may be a part of the answer (RFC 9111 section 3.3): it would be wrong until it is stale.
        guard (response as? PinnedHTTPURLResponse)?.hasReliableEnd == true else { return }
        let end = CacheRules.end(of: response, received: received)
        // Without a time it can only be of use to one who takes anything.
        guard end != nil || cachePolicy == .returnCacheDataElseLoad, isCacheable(request),
            CacheRules.mayStore(response), response.expectedContentLength <= Int64(session.cache.sizeLimit)
        else { return }
        let isDelegates = if case .delegate = delivery { true } else { false }
        state.withLock {
            $0.candidate = CacheCandidate(
                response: response, request: request, generation: transfer.generation, received: received, end: end,
                varies: CacheRules.varies(response), acceptedCodings: acceptedCodings(of: request),
                content: isDelegates ? Data() : nil)
        }
    }

    /// Stores what has arrived whole, if the delegate does not mind.
    func keepAnswer() {
        let (candidate, content) = state.withLock { state in
            defer { state.candidate = nil }
            return (state.candidate, state.candidate?.content ?? state.content)
        }
        guard let candidate, content.count <= session.cache.sizeLimit else { return }
        // On the disk nobody would know who put it there.
        let proposal = CachedURLResponse(
            response: candidate.response, data: content, userInfo: nil, storagePolicy: .allowedInMemoryOnly)
        let cache = session.cache
        guard candidate.content != nil, let delegate = delegate as? any URLSessionDataDelegate else {
            return cache.keep(proposal, as: candidate)
        }
        tell { session, task in
            guard let task = task as? URLSessionDataTask else { return }
            delegate.urlSession(session, dataTask: task, willCacheResponse: proposal) { cached in
                guard let cached else { return }
                cache.keep(cached, as: candidate)
            }
        }
    }
}
