public import Foundation
internal import Security

extension URLSession {
    public func data(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { dataTask(with: request, completionHandler: $0) }
    }

    public func data(
        from url: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { uploadTask(with: request, from: bodyData, completionHandler: $0) }
    }

    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { uploadTask(with: request, fromFile: fileURL, completionHandler: $0) }
    }

    public func download(
        for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
    ) async throws -> (URL, URLResponse) {
        try await run(delegate) { downloadTask(with: request, completionHandler: $0) }
    }

    private func run<Product: Sendable>(
        _ delegate: (any URLSessionTaskDelegate)?,
        _ make: (@escaping @Sendable (Product?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> (Product, URLResponse) {
        let slot = Guarded<(task: URLSessionTask?, isCancelled: Bool)>((nil, false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = Self.$delegateOfNewTask.withValue(delegate) {
                    make { product, response, error in
                        if let product, let response {
                            continuation.resume(returning: (product, response))
                        } else {
                            continuation.resume(throwing: error ?? URLError(.unknown))
                        }
                    }
                }
                task.resume()
                let isCancelled = slot.with { slot in
                    slot.task = task
                    return slot.isCancelled
                }
                if isCancelled { task.cancel() }
            }
        } onCancel: {
            let task = slot.with { slot in
                slot.isCancelled = true
                return slot.task
            }
            task?.cancel()
        }
    }
}
