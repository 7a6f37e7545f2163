internal import Foundation
internal import FoundationNetworking
internal import Synchronization

extension TaskLoader: TransferEvents {
    /// What is read of content that nobody wants, to keep the connection, which is worth so much and no more.
    private static let discardLimit = 256 << 10
    /// How often a policy may change before a task gives up reaching a server under one.
    private static let supersessionLimit = 64

    func transfer(_ transfer: Transfer, didSend count: Int) {
        let delegate = delegate
        let isNews = state.withLock { $0.noteSent(Int64(count), isTold: delegate != nil) }
        showProgress()
        guard let delegate, isNews else { return }
        tell { [self] session, task in
            let news = state.withLock { $0.unsaid.isEmpty ? nil : $0.unsaid.removeFirst() }
            guard let news else { return }
            delegate.urlSession(
                session, task: task, didSendBodyData: news.count, totalBytesSent: news.total,
                totalBytesExpectedToSend: news.expected)
        }
    }

    func transfer(_ transfer: Transfer, didReceive head: ResponseHead) -> TransferHold {
        guard let request = state.withLock({ $0.currentRequest }), let url = request.url,
            let response = PinnedHTTPURLResponse(head, url: url)
        else {
            refuse(transfer, SessionRefusal(.invalidRequest, "the response cannot be represented"))
            return []
        }
        // Before a redirect is followed: it often leads to what has changed.
        forgetContent(changedBy: request, response)
        let isKept = keepCookies(head, of: transfer, to: request) { [self] in
            goOn(transfer, head, response, to: request)
        }
        return isKept ? [.answer, .choice] : proceed(transfer, head, response, to: request)
    }

    func transfer(_ transfer: Transfer, didReceive data: Data) -> TransferHold? {
        let cacheLimit = session.cache.sizeLimit
        let isDelegates = if case .delegate = delivery { true } else { false }
        // A delegate without these methods must not hold up an async call.
        let isObserved =
            isDelegates || contentDelegate is any URLSessionDataDelegate
            || contentDelegate is any URLSessionDownloadDelegate
        let step = state.withLock { state -> (hold: TransferHold, tells: Bool)? in
            if case .passing = state.mode {
                state.discarded += data.count
                return state.discarded > Self.discardLimit ? nil : ([], false)
            }
            state.received += Int64(data.count)
            if let file = state.file, !file.append(data) { return nil }
            if !isDelegates, state.file == nil { state.content.append(data) }
            guard isObserved else { return ([], false) }
            if let kept = state.candidate?.content {
                // Not for long, or not at all: what is too much for the cache is not gathered either.
                if kept.count + data.count > cacheLimit { state.candidate = nil }
                state.candidate?.content?.append(data)
            }
            let isJoined = state.append(isDownload ? nil : data, count: data.count)
            return (state.backlog > Self.backlogLimit ? .backlog : [], !isJoined)
        }
        guard let step else { return nil }
        showProgress()
        if step.tells { tellPiece() }
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
            // However that content ended, the next request does not depend on it.
            guard case .passing(let next) = state.mode else { return nil }
            return next
        }
        if let next { return load(next) }
        if failure == nil { keepAnswer() }
        finish(failure)
    }
}

/// Content of one transfer that has been sent, for `didSendBodyData`.
struct SentNews {
    var count: Int64
    var total: Int64
    var expected: Int64
}

extension TaskLoader.State {
    /// Counts what was sent. However slow a delegate is, one message for each transfer waits for it, and grows.
    ///
    /// - Returns: whether there is a message that was not there before.
    fileprivate mutating func noteSent(_ count: Int64, isTold: Bool) -> Bool {
        let isFirst = sent == 0
        sent += count
        guard isTold else { return false }
        if !isFirst, let last = unsaid.indices.last {
            unsaid[last].count += count
            (unsaid[last].total, unsaid[last].expected) = (sent, expectedToSend)
            return false
        }
        unsaid.append(SentNews(count: count, total: sent, expected: expectedToSend))
        return true
    }
}
