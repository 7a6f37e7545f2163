public import Foundation
public import FoundationNetworking

// Foundation's `data(for:delegate:)` and its like are public and not open, and make Foundation's own tasks.
// A call that names no delegate prefers a function without that parameter, and one that names one prefers
// the parameter that is not optional: so these are what is called, whether the session's type is known as
// PinnedURLSession or URLSession. On any other session they do what Foundation's do.
extension URLSession {
    /// Loads a request, as Foundation's method of this name does; cancelling the Swift task cancels it.
    ///
    /// - Throws: `URLError`, in which `TrustRejection(underlying:)` finds the verdict on a server that was refused.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else { return try await data(for: request, delegate: nil) }
        return try await session.load(nil) { session.dataTask(request, $0) }
    }

    /// Loads a URL, as `data(for:)` does a request.
    public func data(from url: URL) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Uploads content, as Foundation's method of this name does; cancelling the Swift task cancels it.
    ///
    /// - Throws: `URLError`, in which `TrustRejection(underlying:)` finds the verdict on a server that was refused.
    public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await upload(for: request, from: bodyData, delegate: nil)
        }
        return try await session.load(nil) { session.uploadTask(request, .data(bodyData), $0) }
    }

    /// Uploads a file, which is read while it is sent.
    ///
    /// - Throws: `URLError`, in which `TrustRejection(underlying:)` finds the verdict on a server that was refused.
    public func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await upload(for: request, fromFile: fileURL, delegate: nil)
        }
        return try await session.load(nil) { session.uploadTask(request, .file(fileURL), $0) }
    }

    /// Downloads to a file in the temporary directory, which is the caller's to move or to remove.
    ///
    /// - Throws: `URLError`, in which `TrustRejection(underlying:)` finds the verdict on a server that was refused.
    public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
        guard let session = self as? PinnedURLSession else { return try await download(for: request, delegate: nil) }
        return try await session.download(request, nil)
    }

    /// Downloads a URL, as `download(for:)` does a request.
    public func download(from url: URL) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url))
    }
}

// The same with a delegate for this one task, which hides the session's.
extension URLSession {
    public func data(
        for request: URLRequest, delegate: any URLSessionTaskDelegate
    ) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await data(for: request, delegate: Optional(delegate))
        }
        return try await session.load(delegate) { session.dataTask(request, $0) }
    }

    public func data(from url: URL, delegate: any URLSessionTaskDelegate) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: any URLSessionTaskDelegate
    ) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await upload(for: request, from: bodyData, delegate: Optional(delegate))
        }
        return try await session.load(delegate) { session.uploadTask(request, .data(bodyData), $0) }
    }

    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: any URLSessionTaskDelegate
    ) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await upload(for: request, fromFile: fileURL, delegate: Optional(delegate))
        }
        return try await session.load(delegate) { session.uploadTask(request, .file(fileURL), $0) }
    }

    public func download(
        for request: URLRequest, delegate: any URLSessionTaskDelegate
    ) async throws -> (URL, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await download(for: request, delegate: Optional(delegate))
        }
        return try await session.download(request, delegate)
    }

    public func download(from url: URL, delegate: any URLSessionTaskDelegate) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }
}

extension PinnedURLSession {
    fileprivate func load(
        _ delegate: (any URLSessionTaskDelegate)?, _ make: @Sendable (TaskLoader.Delivery) -> URLSessionTask
    ) async throws -> (Data, URLResponse) {
        try await run(delegate) { continuation in
            make(.data({ continuation.resume($0, $1, $2) }, onDelegateQueue: false))
        }
    }

    fileprivate func download(
        _ request: URLRequest, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (URL, URLResponse) {
        try await run(delegate) { continuation in
            self.downloadTask(request, .file({ continuation.resume($0, $1, $2) }, onDelegateQueue: false))
        }
    }

    private func run<Product: Sendable>(
        _ delegate: (any URLSessionTaskDelegate)?,
        _ make: (CheckedContinuation<(Product, URLResponse), any Error>) -> URLSessionTask
    ) async throws -> (Product, URLResponse) {
        let cancellation = TaskCancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = make(continuation)
                task.delegate = delegate
                task.resume()
                cancellation.watch(task)
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}

extension CheckedContinuation where E == any Error {
    fileprivate func resume<Product: Sendable>(
        _ product: Product?, _ response: URLResponse?, _ error: (any Error)?
    ) where T == (Product, URLResponse) {
        if let product, let response {
            resume(returning: (product, response))
        } else {
            resume(throwing: error ?? URLError(.unknown))
        }
    }
}
