internal import Foundation
internal import FoundationNetworking
internal import Synchronization

/// Content for one transfer after the other.
extension TaskLoader {
    /// Makes the given content ready for the first transfer.
    func takeBody() throws(SessionRefusal) {
        var body: TransferRequest.Body?
        var isStreamed = false
        switch givenBody {
        case .none: break
        case .data(let data): body = .data(data)
        case .file(let url):
            guard let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber else {
                throw SessionRefusal(
                    .invalidRequest, "there is no file to upload: \(url.path)", errorCode: NSURLErrorFileDoesNotExist)
            }
            body = .file(path: url.path, size: size.int64Value)
        case .stream(let stream):
            body = stream.map { .stream($0, size: originalRequest.declaredLength) }
            isStreamed = true
        case .refused(let refusal): throw refusal
        }
        state.withLock { state in
            (state.body, state.isStreamed) = (body, isStreamed)
        }
    }

    /// Whether there is content to send where there should be; if not, the delegate is asked for a stream and
    /// the request made once it is there.
    func hasBody(for request: URLRequest) -> Bool {
        let isThere = state.withLock { state in
            guard state.isStreamed else { return true }
            guard case .stream(let stream, _)? = state.body else { return false }
            return stream.isWhole
        }
        guard !isThere else { return true }
        guard let delegate else {
            finish(.noBodyStream)
            return false
        }
        countDown()
        let answer = OnceAnswered<InputStream?> { [weak self] stream in
            guard let self else { return }
            guard let stream else { return finish(.noBodyStream) }
            let body = BodyStream(stream)
            let isLive = state.withLock { state in
                if state.isLive { state.body = .stream(body, size: request.declaredLength) }
                return state.isLive
            }
            if isLive { load(request) }
        }
        tell { session, task in
            delegate.urlSession(session, task: task, needNewBodyStream: { answer.take($0) })
        }
        return false
    }

    /// Has a stream tell the transfer when there is more of it.
    func listenToBody() {
        guard case .stream(let stream, _)? = state.withLock({ $0.body }) else { return }
        stream.whenReady { [weak self] in self?.withTransfer { $0.release($1, []) } }
    }
}

extension TaskLoader.State {
    /// Chooses the content of the next request, as a redirect or a delegate has left it.
    mutating func replaceBody(by next: URLRequest) {
        if let data = next.httpBody {
            if data != currentRequest?.httpBody { (body, isStreamed) = (data.isEmpty ? nil : .data(data), false) }
        } else if let stream = next.httpBodyStream {
            guard stream !== currentRequest?.httpBodyStream else { return }
            body = .stream(BodyStream(stream), size: next.declaredLength)
            isStreamed = true
        } else if currentRequest?.httpMethod != next.httpMethod {
            (body, isStreamed) = (nil, false)
        }
    }
}

extension URLRequest {
    /// What a request says itself of a stream's length; without it the content goes in chunks.
    fileprivate var declaredLength: Int64? {
        value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
