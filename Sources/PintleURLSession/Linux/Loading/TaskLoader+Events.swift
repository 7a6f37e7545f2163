internal import Foundation
internal import FoundationNetworking
internal import Synchronization

extension TaskLoader: TransferEvents {
    /// What may wait for a slow delegate.
    private static let backlogLimit = 1 << 20
    /// What is read of the content of a redirect to keep the connection, which is worth so much and no more.
    private static let discardLimit = 256 << 10
    /// How often a policy may change before a task gives up reaching a server under one.
    private static let supersessionLimit = 64

    func transfer(_ transfer: Transfer, didSend count: Int) {
        let (sent, expected) = state.withLock { state in
            state.sent += Int64(count)
            return (state.sent, state.expectedToSend)
        }
        guard let delegate else { return }
        tell { session, task in
            delegate.urlSession(
                session, task: task, didSendBodyData: Int64(count), totalBytesSent: sent,
                totalBytesExpectedToSend: expected)
        }
    }

    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) -> TransferHold {
        guard let request = state.withLock({ $0.currentRequest }), let url = request.url,
            let response = PinnedHTTPURLResponse(head, url: url)
        else {
            refuse(transfer, SessionRefusal(.invalidRequest, "the response cannot be represented"))
            return []
        }
        keepCookies(head, to: request, at: url)
        do throws(SessionRefusal) {
            if let next = try Redirect.request(after: response, to: request) {
                return try redirect(transfer, response, to: next)
            }
        } catch {
            refuse(transfer, error)
            return []
        }
        return accept(transfer, response)
    }

    func transfer(_ transfer: Transfer, didReceive data: Data) -> TransferHold? {
        let step = state.withLock { state -> (hold: TransferHold, tells: Bool, expected: Int64)? in
            if case .redirect = state.mode {
                state.discarded += data.count
                return state.discarded > Self.discardLimit ? nil : ([], false, 0)
            }
            state.received += Int64(data.count)
            if let file = state.file, !file.append(data) { return nil }
            guard case .delegate = delivery else {
                if state.file == nil { state.content.append(data) }
                return ([], false, 0)
            }
            state.backlog += data.count
            return (state.backlog > Self.backlogLimit ? .backlog : [], true, state.expectedToReceive)
        }
        guard let step else { return nil }
        guard step.tells, case .delegate = delivery else { return step.hold }
        let (delegate, loader, count) = (delegate, self, data.count)
        let received = state.withLock { $0.received }
        if isDownload {
            // What is in the file stays out of what waits: the closure holds the count alone.
            tell { session, task in
                guard let task = task as? URLSessionDownloadTask else { return }
                (delegate as? any URLSessionDownloadDelegate)?.urlSession(
                    session, downloadTask: task, didWriteData: Int64(count), totalBytesWritten: received,
                    totalBytesExpectedToWrite: step.expected)
                loader.workOff(count)
            }
        } else {
            tell { session, task in
                guard let task = task as? URLSessionDataTask else { return }
                (delegate as? any URLSessionDataDelegate)?.urlSession(session, dataTask: task, didReceive: data)
                loader.workOff(count)
            }
        }
        return step.hold
    }

    func transfer(_ transfer: Transfer, didComplete failure: TransferFailure?) {
        let next = state.withLock { state -> URLRequest? in
            (state.transport, state.transfer) = (nil, nil)
            guard state.phase == .running || state.phase == .suspended else { return nil }
            if case .superseded = failure, state.supersessions < Self.supersessionLimit {
                state.supersessions += 1
                return state.currentRequest
            }
            // However the content of a redirect ended, the next request does not depend on it.
            guard case .redirect(let next) = state.mode else { return nil }
            return next
        }
        if let next { return load(next) }
        finish(failure)
    }
}

// MARK: Steps

extension TaskLoader {
    private func workOff(_ count: Int) {
        let wasOver = state.withLock { state in
            let before = state.backlog
            state.backlog -= count
            return before > Self.backlogLimit && state.backlog <= Self.backlogLimit
        }
        if wasOver { withTransfer { $0.release($1, .backlog) } }
    }

    private func refuse(_ transfer: Transfer, _ refusal: SessionRefusal) {
        let transport = state.withLock { $0.transport }
        finish(.refused(refusal))
        transport?.cancel(transfer)
    }

    private func keepCookies(_ head: ResponseHead, to request: URLRequest, at url: URL) {
        let values = head.values(of: "set-cookie")
        guard !values.isEmpty else { return }
        let (value, configuration) = (values.joined(separator: ", "), session.settings)
        guard configuration.httpShouldSetCookies, request.httpShouldHandleCookies,
            let storage = configuration.httpCookieStorage, configuration.httpCookieAcceptPolicy != .never
        else { return }
        let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": value], for: url)
        storage.setCookies(cookies, for: url, mainDocumentURL: request.mainDocumentURL)
    }

    private func accept(_ transfer: Transfer, _ response: HTTPURLResponse) -> TransferHold {
        let file = isDownload ? DownloadFile() : nil
        if isDownload, file == nil {
            refuse(transfer, SessionRefusal(.invalidRequest, "no file can be made in the temporary directory"))
            return []
        }
        state.withLock { state in
            state.response = response
            state.expectedToReceive = response.expectedContentLength
            state.file = file
        }
        guard case .delegate = delivery, !isDownload, let delegate = delegate as? any URLSessionDataDelegate else {
            return []
        }
        let loader = self
        tell { session, task in
            guard let task = task as? URLSessionDataTask else { return loader.release(.answer) }
            delegate.urlSession(session, dataTask: task, didReceive: response) { disposition in
                switch disposition {
                case .allow: loader.release(.answer)
                case .cancel: loader.cancel()
                case .becomeDownload:
                    loader.refuse(
                        transfer, .unsupported("turning a data task into a download", hint: "make a download task"))
                }
            }
        }
        return .answer
    }

    private func redirect(
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
            follow(next)
            return []
        }
        let loader = self
        tell { session, task in
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: next) { answer in
                if let answer {
                    do throws(SessionRefusal) {
                        try Redirect.refuseDowngrade(from: response.url, to: answer.url)
                        loader.follow(answer)
                        loader.release(.answer)
                    } catch {
                        loader.refuse(transfer, error)
                    }
                } else {
                    // The redirect itself is the response; one who has just been asked is not asked again.
                    if !loader.accept(transfer, response).contains(.answer) { loader.release(.answer) }
                }
            }
        }
        return .answer
    }

    private func follow(_ next: URLRequest) {
        state.withLock { state in
            state.mode = .redirect(next)
            if let body = next.httpBody {
                if body != state.currentRequest?.httpBody { state.body = .data(body) }
            } else if state.currentRequest?.httpMethod != next.httpMethod {
                state.body = nil
            }
            guard let from = state.currentRequest?.url, let target = next.url,
                let current = try? CurlURL(from.absoluteString), let wanted = try? CurlURL(target.absoluteString),
                current.hasSameOrigin(as: wanted)
            else {
                state.hasLeftOrigin = true
                return
            }
        }
    }

    private func release(_ hold: TransferHold) {
        withTransfer { $0.release($1, hold) }
    }
}
