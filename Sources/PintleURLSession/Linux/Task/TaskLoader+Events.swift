internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Passes the events of a transfer to the state machine and to the delegate.
extension TaskLoader: TransferEvents {
    func transfer(_ transfer: Transfer, didSend count: Int) {
        let delegate = outbox.delegate
        let progress = state.withLock { state -> TaskProgress? in
            guard let running = state.machine.carrier(of: transfer), state.machine.sent(count, over: running)
            else { return nil }
            return state.machine.progress
        }
        guard let progress else { return }
        showProgress()
        guard let delegate else { return }
        callbacks.sendSentBytes(Int64(count), progress) { piece, session, task in
            delegate.urlSession(
                session, task: task, didSendBodyData: piece.count, totalBytesSent: piece.total,
                totalBytesExpectedToSend: piece.expected)
        }
    }

    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) -> TransferHold {
        let (request, carrier) = read { ($0.request, $0.carrier(of: transfer)) }
        guard let url = request.url, let response = PinnedHTTPURLResponse(head, url: url) else {
            guard let running = carrier else { return [] }
            let refusal = SessionError(.invalidRequest, "the response cannot be represented")
            advance { $0.failed(.refused(refusal), over: running) }
            return []
        }
        guard let running = carrier else { return [] }
        let server = transfer.request.url
        let cookies = CookieJar(for: head, from: server, to: request, under: resources.settings)
        let received = ReceivedResponse(response, from: server, to: request, cookies: cookies, over: resources.proxies)
        let canAsk = received.mayAsk && outbox.delegate != nil
        advance { $0.receivedHead(received, over: running, canAsk: canAsk) }
        // Read last: without a delegate, the actions above have already answered the question.
        return read { $0.hold(of: running) }
    }

    func transfer(_ transfer: Transfer, didReceive data: Data) -> TransferHold? {
        // The bytes received so far; `nil` if the content is refused, 0 if it is discarded.
        let total = state.withLock { state -> Int64? in
            guard let running = state.machine.carrier(of: transfer) else { return 0 }
            switch state.machine.receivedData(data.count, over: running) {
            case .refuse: return nil
            case .discard: return 0
            case .keep: return state.content.append(data) ? state.machine.progress.received : nil
            }
        }
        guard let total else { return nil }
        guard total > 0 else { return [] }
        showProgress()
        let isFull = showContent(data, received: total)
        return isFull ? .backlog : []
    }

    func transfer(_ transfer: Transfer, didComplete failure: TransferError?) {
        advance { machine in
            guard let running = machine.unendedCarrier, running.transfer === transfer else { return [] }
            return machine.completed(running, failure, at: ProcessInfo.processInfo.systemUptime)
        }
    }

    /// Prepares the file for the content of a download.
    func accept(_ running: RunningTransfer) {
        let file: DownloadFile?
        do throws(SessionError) {
            file = isDownload ? try DownloadFile() : nil
        } catch {
            return advance { $0.failed(.refused(error), over: running) }
        }
        let listener = listener
        let actions = state.withLock { state -> [Machine.Action] in
            // The task may have ended in the meantime. The file is then deleted.
            if let file {
                guard state.machine.isAccepting(over: running) else { return [] }
                state.content.file = file
            }
            return state.machine.accepted(over: running, by: listener)
        }
        perform(actions)
    }

    /// Stores cookies on a queue of the session, so that the transport's thread does not wait.
    func store(_ cookies: CookieJar, _ running: RunningTransfer) {
        let job = CookieQueue.Job(
            host: running.transfer.request.url.endpoint.host, isUrgent: running.transfer.isCovered, jar: cookies,
            isNeeded: { [self] in read { $0.isStoringCookies(over: running) } },
            completion: { [self] in
                let canAsk = outbox.delegate != nil
                running.transport.release(running.transfer, .cookies)
                advance { $0.storedCookies(over: running, canAsk: canAsk) }
            })
        resources.cookieQueue.add(job)
    }

    /// Continues with the next request, which needs the cookies of its server.
    func prepareNext(_ hop: Hop, after last: Transfer) {
        resources.cookieQueue.addTurn(isUrgent: last.isCovered) { [self] in prepare(hop) }
    }
}

extension Transfer {
    /// A Boolean value that indicates whether the policy has a rule for the server.
    fileprivate var isCovered: Bool { generation.policy.rule(for: request.url.endpoint) != nil }
}
