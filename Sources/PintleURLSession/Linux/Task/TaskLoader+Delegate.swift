internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Calls to the delegate: questions, responses, content and the end of the task.
///
/// A delegate may keep its completion handlers for ever. They do not hold the loader, the delegate or the transport.
extension TaskLoader {
    /// Passes the delegate's answer to the state machine.
    ///
    /// - Parameter transfer: The transfer that waits for the answer, or `nil` if none runs.
    private func answer(_ answer: Machine.Answer, _ transfer: Transfer?) {
        advance { machine in
            guard let transfer else { return machine.answered(answer, about: nil) }
            return machine.carrier(of: transfer).map { machine.answered(answer, about: $0) } ?? []
        }
    }

    /// The outbox, once it has the task object that its callbacks pass to the delegate.
    var callbacks: DelegateOutbox {
        _ = task
        return outbox
    }

    func askForStream(for hop: Hop) {
        guard let delegate = outbox.delegate else { return answer(.stream(nil), nil) }
        let handler = OnceAnswered<InputStream?> { [weak self] stream in
            self?.answer(.stream(stream.map { BodyStream($0) }), nil)
        }
        callbacks.send { session, task in
            delegate.urlSession(session, task: task, needNewBodyStream: { handler.answer($0) })
        }
    }

    func ask(about response: HTTPURLResponse, to next: URLRequest, _ transfer: Transfer) {
        guard let delegate = outbox.delegate else { return answer(.redirect(next), transfer) }
        let handler = OnceAnswered<URLRequest?> { [weak self] request in self?.answer(.redirect(request), transfer) }
        callbacks.send { session, task in
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: next) {
                handler.answer($0)
            }
        }
    }

    func ask(for pending: PendingChallenge, _ transfer: Transfer) {
        guard let offer = pending.offers.first else { return answer(.noCredential, transfer) }
        let space = offer.protectionSpace(of: pending.url)
        let authentication = read(\.authentication)
        let stored = resources.credentials.credential(for: space)
        let refused = authentication.refusedCredential(of: pending.url)
        // Do not propose a credential that the server has just refused.
        let isNew = stored?.user != refused?.user || stored?.password != refused?.password
        let proposed = isNew ? stored : nil
        let sender = ChallengeSender { [weak self] answer in
            let credential: URLCredential?
            switch answer.disposition {
            case .useCredential: credential = answer.credential
            case .performDefaultHandling: credential = proposed
            case .rejectProtectionSpace: return self?.answer(.nextOffer, transfer) ?? ()
            case .cancelAuthenticationChallenge: return self?.cancel() ?? ()
            }
            guard let credential, credential.user != nil else { return self?.answer(.noCredential, transfer) ?? () }
            let authorization = Authorization(credential, for: offer, in: space, at: pending.url)
            self?.answer(.credential(authorization), transfer)
        }
        guard let delegate = outbox.delegate else { return sender.answer(.performDefaultHandling) }
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space, proposedCredential: proposed,
            previousFailureCount: authentication.failureCount(in: space), failureResponse: pending.response, error: nil,
            sender: sender)
        callbacks.send { session, task in
            delegate.urlSession(session, task: task, didReceive: challenge) { sender.answer($0, $1) }
        }
    }

    /// Asks the delegate whether it wants the content.
    func ask(about response: URLResponse, _ transfer: Transfer) {
        let handler = OnceAnswered<URLSession.ResponseDisposition> { [weak self] disposition in
            switch disposition {
            case .allow: self?.answer(.allow, transfer)
            case .cancel: self?.cancel()
            case .becomeDownload:
                let refusal = SessionError.unsupported(
                    "turning a data task into a download", hint: "make a download task")
                self?.answer(.refuse(refusal), transfer)
            }
        }
        guard let delegate = contentDelegate as? any URLSessionDataDelegate else { return handler.answer(.allow) }
        callbacks.send { session, task in
            guard let task = task as? URLSessionDataTask else { return handler.answer(.allow) }
            delegate.urlSession(session, dataTask: task, didReceive: response) { handler.answer($0) }
        }
    }

    /// Passes the response to the delegate of an async call. The loader ignores the delegate's answer, as Foundation
    /// for Linux does.
    func show(_ response: URLResponse) {
        guard let delegate = contentDelegate as? any URLSessionDataDelegate else { return }
        callbacks.send { session, task in
            guard let task = task as? URLSessionDataTask else { return }
            delegate.urlSession(session, dataTask: task, didReceive: response) { _ in }
        }
    }

    /// Passes content to the delegate, if the delegate handles content.
    ///
    /// - Returns: `true` if the delegate's backlog is full and the transfer has to pause.
    func showContent(_ data: Data, received: Int64) -> Bool {
        let delegate = contentDelegate
        // A delegate without these methods must not hold up an async call.
        guard !data.isEmpty,
            delivery.isDelegate || delegate is any URLSessionDataDelegate || delegate is any URLSessionDownloadDelegate
        else {
            return false
        }
        return callbacks.sendContent(isDownload ? nil : data, count: data.count, received: received) {
            [self] piece, session, task in
            if let task = task as? URLSessionDownloadTask {
                (delegate as? any URLSessionDownloadDelegate)?.urlSession(
                    session, downloadTask: task, didWriteData: Int64(piece.count), totalBytesWritten: piece.received,
                    totalBytesExpectedToWrite: read(\.progress.expectedToReceive))
            } else if let task = task as? URLSessionDataTask {
                (delegate as? any URLSessionDataDelegate)?.urlSession(session, dataTask: task, didReceive: piece.data)
            }
        } relieve: { [self] in
            guard let running = read(\.carrier) else { return }
            running.transport.release(running.transfer, .backlog)
        }
    }

    // MARK: The end

    func finish(_ outcome: Machine.Outcome) {
        let (content, received) = state.withLock { state in
            state.countdown = nil
            return state.content.removeAll()
        }
        // Keeps the task alive until the completion has run.
        let task = finishedTask
        guard task != nil || delivery.isCaller else { return resources.registry.remove(self, from: session) }
        let response = read(\.response)
        let error: URLError? = if case .failed(let error) = outcome { error } else { nil }
        // An incomplete file is deleted with its last reference.
        let file = error == nil ? received : nil
        let complete: @Sendable () -> Void
        switch delivery {
        case .handler(let completion), .caller(let completion, _):
            complete = { error == nil ? completion(content, file, response, nil) : completion(nil, nil, nil, error) }
        case .delegate:
            let (delegate, session) = (outbox.delegate, session)
            complete = {
                if let file, let task = task as? URLSessionDownloadTask {
                    (delegate as? any URLSessionDownloadDelegate)?
                        .urlSession(session, downloadTask: task, didFinishDownloadingTo: file.url)
                }
                file?.remove()
                if let task { delegate?.urlSession(session, task: task, didCompleteWithError: error) }
            }
        }
        let isQueued = !delivery.isCaller
        outbox.close(isQueued: isQueued) { [self] in
            if isQueued { complete() }
            resources.registry.remove(self, from: session)
            // Release the delegate when the task ends, so that holding on to a finished task does not keep the delegate
            // alive.
            outbox.taskDelegate = nil
            if !isQueued { resources.transports.completions.add(complete) }
        }
    }
}
