internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// What a task does about a response, once its head is there.
extension TaskLoader {
    func refuse(_ transfer: Transfer?, _ refusal: SessionRefusal) {
        let transport = state.withLock { $0.transport }
        finish(.refused(refusal))
        if let transfer { transport?.cancel(transfer) }
    }

    /// What a response asks for: another request, a credential, or nothing more than to be handed over.
    func proceed(
        _ transfer: Transfer, _ head: ResponseHead, _ response: HTTPURLResponse, to request: URLRequest
    ) -> TransferHold {
        do throws(SessionRefusal) {
            if let next = try Redirect.request(after: response, to: request) {
                return try redirect(transfer, response, to: next)
            }
            if let hold = challenge(transfer, head, response, to: request) { return hold }
        } catch {
            refuse(transfer, error)
            return []
        }
        return accept(transfer, response)
    }

    /// The same once the response's cookies are kept, for which the transfer was held.
    func goOn(
        _ transfer: Transfer, _ head: ResponseHead, _ response: HTTPURLResponse, to request: URLRequest
    ) {
        guard state.withLock({ $0.awaits(transfer) }) else { return }
        let holds = proceed(transfer, head, response, to: request)
        release(TransferHold([.answer, .choice]).subtracting(holds), of: transfer)
    }

    func accept(_ transfer: Transfer, _ response: HTTPURLResponse) -> TransferHold {
        let file: DownloadFile?
        do throws(SessionRefusal) {
            file = isDownload ? try DownloadFile() : nil
        } catch {
            refuse(transfer, error)
            return []
        }
        let (request, isAwaited) = state.withLock { state -> (URLRequest?, Bool) in
            // The task may have ended while the delegate made up its mind.
            guard state.awaits(transfer) else { return (nil, false) }
            state.response = response
            state.expectedToReceive = response.announcedLength
            state.file = file
            return (state.currentRequest, true)
        }
        guard isAwaited else { return [] }
        if let request { consider(response, to: request, over: transfer) }
        guard !isDownload, let delegate = contentDelegate as? any URLSessionDataDelegate else { return [] }
        guard case .delegate = delivery else {
            tellResponse(response, to: delegate)
            return []
        }
        ask(delegate, about: response) { [weak self] in self?.release(.answer, of: transfer) }
        return .answer
    }

    /// Tells the delegate of an async call. Its answer does not count, as in Foundation for Linux.
    func tellResponse(_ response: URLResponse, to delegate: any URLSessionDataDelegate) {
        tell { session, task in
            guard let task = task as? URLSessionDataTask else { return }
            delegate.urlSession(session, dataTask: task, didReceive: response) { _ in }
        }
    }

    /// Whether the content is wanted.
    func ask(
        _ delegate: any URLSessionDataDelegate, about response: URLResponse, then goOn: @escaping @Sendable () -> Void
    ) {
        let answer = OnceAnswered<URLSession.ResponseDisposition> { [weak self] disposition in
            guard let self else { return }
            switch disposition {
            case .allow: goOn()
            case .cancel: cancel()
            case .becomeDownload:
                let transfer = state.withLock { $0.transfer }
                refuse(transfer, .unsupported("turning a data task into a download", hint: "make a download task"))
            }
        }
        tell { session, task in
            guard let task = task as? URLSessionDataTask else { return answer.take(.allow) }
            delegate.urlSession(session, dataTask: task, didReceive: response) { answer.take($0) }
        }
    }

    /// Gives out a response that was kept back for an answer.
    func handOver(_ transfer: Transfer, _ response: HTTPURLResponse) {
        // The next answer ends the wait where one is asked for.
        let asksAgain = accept(transfer, response).contains(.answer)
        release(asksAgain ? .choice : [.answer, .choice], of: transfer)
    }

    func redirect(
        _ transfer: Transfer, _ response: HTTPURLResponse, to next: URLRequest
    ) throws(SessionRefusal) -> TransferHold {
        let count = state.withLock { state in
            state.redirects += 1
            return state.redirects
        }
        guard count <= Redirect.limit else {
            throw SessionRefusal(.tooManyRedirects, "more than \(Redirect.limit) redirects")
        }
        guard let delegate else {
            follow(next, after: transfer)
            return []
        }
        let answer = OnceAnswered<URLRequest?> { [weak self] answer in
            guard let self else { return }
            // Without a request the redirect itself is the response.
            guard let answer else { return handOver(transfer, response) }
            do throws(SessionRefusal) {
                try Redirect.refuseDowngrade(from: response.url, to: answer.url)
                follow(answer, after: transfer)
                release([.answer, .choice], of: transfer)
            } catch {
                refuse(transfer, error)
            }
        }
        tell { session, task in
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: next) {
                answer.take($0)
            }
        }
        return [.answer, .choice]
    }

    /// Has another request made once the content of this response has passed.
    func follow(_ next: URLRequest, after transfer: Transfer) {
        state.withLock { state in
            guard state.awaits(transfer) else { return }
            state.replaceBody(by: next)
            state.mode = .passing(next: next)
            guard let from = state.currentRequest?.url, let target = next.url,
                let current = try? CurlURL(from.absoluteString), let wanted = try? CurlURL(target.absoluteString),
                current.hasSameOrigin(as: wanted)
            else {
                state.hasLeftOrigin = true
                return
            }
        }
    }

    /// The answer was about this transfer, and about no later one.
    func release(_ hold: TransferHold, of transfer: Transfer) {
        let transport = state.withLock { $0.transfer === transfer ? $0.transport : nil }
        transport?.release(transfer, hold)
    }
}

extension HTTPURLResponse {
    /// Of the content as it is handed over: a compressed one grows.
    fileprivate var announcedLength: Int64 {
        let coding = value(forHTTPHeaderField: "Content-Encoding") ?? "identity"
        return coding.lowercased() == "identity" ? expectedContentLength : NSURLSessionTransferSizeUnknown
    }
}
