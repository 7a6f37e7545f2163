internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// One transfer after the other, until the task is over.
extension TaskLoader {
    func begin() {
        do throws(SessionRefusal) {
            try takeBody()
        } catch {
            return finish(.refused(error))
        }
        let limit = session.settings.timeoutIntervalForResource
        state.withLock { state in
            state.deadline = limit > 0 ? ProcessInfo.processInfo.systemUptime + limit : .infinity
        }
        load(originalRequest)
    }

    /// Makes a transfer of its own for each hop, decided anew by the policy that is in use now.
    func load(_ request: URLRequest) {
        let isLive = state.withLock { state in
            state.countdown = nil
            return state.isLive
        }
        guard isLive else { return finish(.cancelled) }
        guard hasBody(for: request) else { return }
        do throws(SessionRefusal) {
            let transport = try session.transport()
            let transfer = transport.make(try ready(request, for: transport.generation), events: self)
            if loadFromCache(request, in: transport.generation) { return }
            let isWanted = state.withLock { state in
                guard state.isLive else { return false }
                (state.transport, state.transfer) = (transport, transfer)
                if state.phase == .suspended { transport.hold(transfer, .suspended) }
                return true
            }
            guard isWanted else { return finish(.cancelled) }
            listenToBody()
            transport.start(transfer)
        } catch {
            finish(.refused(error))
        }
    }

    private func ready(
        _ request: URLRequest, for generation: PolicyGeneration
    ) throws(SessionRefusal) -> TransferRequest {
        let (body, known, translation) = state.withLock { state in
            state.currentRequest = request
            state.mode = .content
            state.discarded = 0
            // Without content, what an earlier request sent still counts.
            if let body = state.body {
                (state.sent, state.expectedToSend) = (0, body.size ?? NSURLSessionTransferSizeUnknown)
            }
            return (
                state.body, state.authentication.authorization,
                RequestTranslation(
                    configuration: session.settings, proxies: session.proxies, generation: generation,
                    hasLeftOrigin: state.hasLeftOrigin, deadline: state.deadline, priority: state.priority)
            )
        }
        var authorization = known
        let result = try translation.transferRequest(request, body: body, authorization: &authorization)
        state.withLock { $0.authentication.authorization = authorization }
        return result
    }

    /// The last thing that happens to a task, whoever comes first.
    func finish(_ failure: TransferFailure?) {
        let outcome = state.withLock { state -> (TransferFailure?, Data, DownloadFile?, URLResponse?)? in
            guard state.phase != .completed else { return nil }
            let failure = state.phase == .canceling ? .cancelled : failure
            state.phase = .completed
            state.error = failure.map { URLError($0, url: state.currentRequest?.url) }
            (state.transport, state.transfer, state.countdown) = (nil, nil, nil)
            defer { (state.content, state.file, state.body, state.candidate) = (Data(), nil, nil, nil) }
            return (failure, state.content, state.file, state.response)
        }
        guard let (failure, content, file, response) = outcome else { return }
        // Held here until the end has been told.
        guard let task = state.withLock({ $0.task }) else { return session.unregister(self) }
        task.progress.totalUnitCount = max(1, task.progress.totalUnitCount)
        task.progress.completedUnitCount = task.progress.totalUnitCount
        let error = state.withLock { $0.error }
        let succeeded = failure == nil

        let last: @Sendable () -> Void
        var isQueued = true
        switch delivery {
        case .data(let handler, let onDelegateQueue):
            isQueued = onDelegateQueue
            last = { succeeded ? handler(content, response, nil) : handler(nil, nil, error) }
        case .file(let handler, let onDelegateQueue):
            isQueued = onDelegateQueue
            last = {
                // An async caller keeps it; another has moved it when it returns, or does not want it.
                if succeeded, !onDelegateQueue { file?.keep() }
                succeeded ? handler(file?.url, response, nil) : handler(nil, nil, error)
                if onDelegateQueue || !succeeded { file?.remove() }
            }
        case .delegate:
            let (delegate, session) = (delegate, session)
            last = {
                if let file, succeeded, let task = task as? URLSessionDownloadTask {
                    (delegate as? any URLSessionDownloadDelegate)?
                        .urlSession(session, downloadTask: task, didFinishDownloadingTo: file.url)
                }
                file?.remove()
                delegate?.urlSession(session, task: task, didCompleteWithError: error)
            }
        }
        let (session, loader) = (session, self)
        guard isQueued else {
            // What the delegate has still to hear of is in the queue by now.
            if delegate != nil { session.delegateQueue.addOperation { loader.state.withLock { $0.hasToldEnd = true } } }
            session.unregister(loader)
            loader.forgetDelegate()
            return last()
        }
        session.delegateQueue.addOperation {
            loader.state.withLock { $0.hasToldEnd = true }
            last()
            session.unregister(loader)
            loader.forgetDelegate()
        }
    }

    /// Who keeps the task must not keep its delegate, and whom that keeps, for as long.
    private func forgetDelegate() {
        let delegate = state.withLock { state in
            defer { state.delegate = nil }
            return state.delegate
        }
        // It goes here, and not under the lock.
        withExtendedLifetime(delegate) {}
    }
}
