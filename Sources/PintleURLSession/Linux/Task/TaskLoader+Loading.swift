internal import Foundation
internal import FoundationNetworking
internal import PintleOpenSSL
internal import Synchronization

/// The steps before a transfer: content, cache and request.
extension TaskLoader {
    /// Looks into the cache, or makes a transfer for a hop. Each hop gets a transfer of its own, checked against the
    /// policy that is in force at that time.
    func prepare(_ hop: Hop) {
        state.withLock { $0.countdown = nil }
        guard hop.content.isAvailable else {
            let canAsk = outbox.delegate != nil
            return advance { $0.lacksContent(canAsk: canAsk) }
        }
        // Not asked within a handshake: the transport has one thread, and the app may take its time.
        guard let choose = resources.transports.identity, let url = hop.request.url?.absoluteString,
            let server = try? CurlURL(url), server.scheme == .https
        else { return load(hop, as: nil) }
        startCountdown()
        session.delegateQueue.addOperation { [self] in
            guard read(\.isLive) else { return }
            load(hop, as: choose(server.endpoint))
        }
    }

    private func load(_ hop: Hop, as identity: ClientIdentity?) {
        state.withLock { $0.countdown = nil }
        do throws(SessionError) {
            let hop = hop.with(try hop.content.opened())
            let transport = try resources.transports.transport(as: identity)
            advance { $0.opened(hop) }
            let (request, authorization) = try translate(hop, for: transport.generation)
            let transfer = transport.make(request, events: self)
            if answerFromCache(hop.request, in: transport.generation) { return }
            let running = RunningTransfer(transport: transport, transfer: transfer)
            advance { $0.made(running, authorization: authorization) }
        } catch {
            advance { $0.failed(.refused(error)) }
        }
    }

    private func translate(
        _ hop: Hop, for generation: PolicyGeneration
    ) throws(SessionError) -> (TransferRequest, Authorization?) {
        let (deadline, known) = read { ($0.deadline, $0.authentication.authorization) }
        let translation = RequestTranslation(
            configuration: resources.settings, sessionFields: resources.fields, proxies: resources.proxies,
            generation: generation, hasLeftOrigin: hop.hasLeftOrigin, deadline: deadline, priority: priority)
        var authorization = known
        let request = try translation.transferRequest(
            hop.request, content: hop.content, authorization: &authorization)
        return (request, authorization)
    }

    func start(_ running: RunningTransfer, _ hop: Hop) {
        if case .stream(let stream?, _) = hop.content {
            stream.whenReady { [weak self] in
                guard let running = self?.read(\.carrier) else { return }
                running.transport.release(running.transfer, [])
            }
        }
        running.transport.start(running.transfer)
    }

    // MARK: The cache

    private var cachePolicy: URLRequest.CachePolicy {
        let own = originalRequest.cachePolicy
        return own == .useProtocolCachePolicy ? resources.settings.requestCachePolicy : own
    }

    /// Responses to a request with an identity are private to it, like those to a request with a password.
    private func isCacheable(_ request: URLRequest, in generation: PolicyGeneration) -> Bool {
        resources.cache.urlCache != nil && !isDownload && generation.identity == nil
            && read(\.authentication.authorization) == nil
            && CacheRules.isCacheable(request, resources.settings.httpAdditionalHeaders ?? [:])
    }

    private func acceptedCodings(of request: URLRequest) -> String? {
        CacheRules.acceptedCodings(of: request, resources.settings.httpAdditionalHeaders ?? [:])
    }

    /// Takes the response from the cache, or fails the task, if the request's cache policy asks for that.
    ///
    /// - Returns: `true` if no transfer is needed.
    private func answerFromCache(_ request: URLRequest, in generation: PolicyGeneration) -> Bool {
        let policy = cachePolicy
        switch policy {
        case .useProtocolCachePolicy, .returnCacheDataElseLoad, .returnCacheDataDontLoad: break
        default: return false
        }
        let wantsFresh = policy == .useProtocolCachePolicy
        if resources.cache.knows(request), isCacheable(request, in: generation),
            let cached = resources.cache.answer(
                to: request, accepting: acceptedCodings(of: request), in: generation, wantsFresh: wantsFresh, at: Date()
            )
        {
            let listener = listener
            let actions = state.withLock { state in
                if state.content.isKept { state.content.data = cached.data }
                return state.machine.foundInCache(cached, by: listener)
            }
            perform(actions)
            return true
        }
        guard policy == .returnCacheDataDontLoad else { return false }
        advance { $0.failed(.notCached) }
        return true
    }

    /// Removes cached content that a request has changed, unless the response is an error (RFC 9111 section 4.4).
    func forgetContent(changedBy request: URLRequest, _ response: HTTPURLResponse) {
        guard !CacheRules.leavesContent(request.httpMethod), let url = request.url, response.statusCode < 400 else {
            return
        }
        resources.cache.forget(url)
    }

    /// Returns what the cache has to know about a response, or `nil` if the response must not be stored.
    func cacheCandidate(
        _ response: PinnedHTTPURLResponse, to request: URLRequest, in generation: PolicyGeneration
    ) -> CacheCandidate? {
        let (head, received) = (response.head, Date())
        // A cache must not store a response that may be incomplete (RFC 9111 section 3.3).
        guard resources.cache.urlCache != nil, head.hasReliableEnd else { return nil }
        let end = CacheRules.end(of: head, received: received)
        // A response without a freshness lifetime is useful only for requests that accept stale responses.
        guard end != nil || cachePolicy == .returnCacheDataElseLoad, isCacheable(request, in: generation),
            CacheRules.mayStore(head), response.expectedContentLength <= Int64(resources.cache.sizeLimit)
        else { return nil }
        return CacheCandidate(
            response: response, request: request, generation: generation, received: received, end: end,
            varies: CacheRules.varies(head), acceptedCodings: acceptedCodings(of: request),
            content: delivery.isDelegate ? Data() : nil)
    }

    /// Stores a complete response in the cache, unless the delegate objects.
    func storeResponse() {
        guard let (candidate, content) = state.withLock({ $0.content.removeCandidate() }),
            content.count <= resources.cache.sizeLimit
        else { return }
        // In memory only: another program could have written a cache file on the disk.
        let proposal = CachedURLResponse(
            response: candidate.response, data: content, userInfo: nil, storagePolicy: .allowedInMemoryOnly)
        let cache = resources.cache
        guard candidate.content != nil, let delegate = outbox.delegate as? any URLSessionDataDelegate else {
            return cache.store(proposal, as: candidate)
        }
        callbacks.send { session, task in
            guard let task = task as? URLSessionDataTask else { return }
            delegate.urlSession(session, dataTask: task, willCacheResponse: proposal) { cached in
                guard let cached else { return }
                cache.store(cached, as: candidate)
            }
        }
    }
}
