internal import Foundation
internal import FoundationNetworking
internal import PintleOpenSSL
internal import Synchronization

/// The steps before a transfer: content and request.
extension TaskLoader {
    /// Makes a transfer for a hop. Each hop gets a transfer of its own, checked against the policy that is in force at
    /// that time.
    func prepare(_ hop: Hop) {
        state.withLock { $0.countdown = nil }
        guard hop.content.isAvailable else {
            let canAsk = outbox.delegate != nil
            return advance { $0.lacksContent(canAsk: canAsk) }
        }
        // Not asked within a handshake: the transport has one thread, and the app may take its time. Not asked on the
        // delegate queue either, because a callback there may wait for this task.
        guard let choose = resources.transports.identity, let url = hop.request.url?.absoluteString,
            let server = try? CurlURL(url), server.scheme == .https
        else { return load(hop, as: nil) }
        startCountdown(of: hop.request)
        resources.identityQueue.async { [self] in
            guard read(\.isLive) else { return }
            load(hop, as: choose(server.endpoint))
        }
    }

    /// Starts a timer for the request's time-out and the task's deadline, while the app chooses an identity.
    private func startCountdown(of request: URLRequest) {
        let timeout = RequestTranslation.idleTimeout(of: request, in: resources.settings)
        let limit = min(read(\.deadline), ProcessInfo.processInfo.systemUptime + timeout)
        let countdown = Countdown(to: limit) { [weak self] in
            guard let self else { return }
            // A suspended task has no time-out.
            if read(\.phase) == .suspended, read(\.deadline) > ProcessInfo.processInfo.systemUptime {
                startCountdown(of: request)
            } else {
                advance { $0.failed(.timedOut) }
            }
        }
        state.withLock { state in
            if state.machine.isPreparing { state.countdown = countdown }
        }
    }

    private func load(_ hop: Hop, as identity: ClientIdentity?) {
        state.withLock { $0.countdown = nil }
        do throws(SessionError) {
            let hop = hop.with(try hop.content.opened())
            let transport = try resources.transports.transport(as: identity)
            advance { $0.opened(hop) }
            let (request, authorization) = try translate(hop, for: transport.generation)
            // A session has no cache, so there is nothing else that could answer.
            guard cachePolicy != .returnCacheDataDontLoad else { return advance { $0.failed(.notCached) } }
            let transfer = transport.make(request, events: self)
            let running = RunningTransfer(transport: transport, transfer: transfer)
            advance { $0.made(running, authorization: authorization) }
        } catch {
            advance { $0.failed(.refused(error)) }
        }
    }

    private func translate(
        _ hop: Hop, for generation: PolicyGeneration
    ) throws(SessionError) -> (TransferRequest, Authorization?) {
        let (deadline, known, refusals) = read {
            ($0.deadline, $0.authentication.authorization, $0.refusals)
        }
        let translation = RequestTranslation(
            configuration: resources.settings, sessionFields: resources.fields, proxies: resources.proxies,
            generation: generation, hasLeftOrigin: hop.hasLeftOrigin, deadline: deadline, priority: priority)
        var authorization = known
        var request = try translation.transferRequest(
            hop.request, content: hop.content, authorization: &authorization)
        request.refusals = refusals
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

    private var cachePolicy: URLRequest.CachePolicy {
        let own = originalRequest.cachePolicy
        return own == .useProtocolCachePolicy ? resources.settings.requestCachePolicy : own
    }
}
