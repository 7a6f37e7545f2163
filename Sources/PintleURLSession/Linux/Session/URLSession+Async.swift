public import Foundation
public import FoundationNetworking

// Foundation's `data(for:delegate:)`, `upload` and `download` are public but not open, and make Foundation's own tasks.
// The overloads below win in Swift's overload resolution:
//
// - A call without `delegate:` prefers the function without that parameter.
// - A delegate that is not optional prefers the parameter that is not optional.
// - The literal `nil` prefers the class `NoTaskDelegate`, which is a subtype of Foundation's parameter.
//
// This holds for the static types PinnedURLSession and URLSession. On any other session these functions call
// Foundation's.
//
// No overload can win for an optional argument: Foundation's parameter has exactly this type, and Swift does not prefer
// a method of a subclass. Such a call reaches `PinningURLProtocol`, which refuses it.
extension URLSession {
    /// Loads a request, as Foundation's method of this name does. Cancelling the Swift task cancels the load.
    ///
    /// - Throws: `URLError`. If the policy refused the server, `TrustRejection(underlying:)` returns the reason.
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await data(for: request, delegate: .noDelegate)
        }
        return try await session.load(request, nil)
    }

    /// Loads a URL, as `data(for:)` loads a request.
    public func data(from url: URL) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url))
    }

    /// Uploads content, as Foundation's method of this name does. Cancelling the Swift task cancels the upload.
    ///
    /// - Throws: `URLError`. If the policy refused the server, `TrustRejection(underlying:)` returns the reason.
    public func upload(for request: URLRequest, from bodyData: Data) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await upload(for: request, from: bodyData, delegate: .noDelegate)
        }
        return try await session.load(request, content: .data(bodyData), nil)
    }

    /// Uploads a file. The session reads the file while it sends it.
    ///
    /// - Throws: `URLError`. If the policy refused the server, `TrustRejection(underlying:)` returns the reason.
    public func upload(for request: URLRequest, fromFile fileURL: URL) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await upload(for: request, fromFile: fileURL, delegate: .noDelegate)
        }
        return try await session.load(request, content: .file(path: fileURL.path, size: nil), nil)
    }

    /// Downloads to a file in the temporary directory. The caller moves or removes the file.
    ///
    /// - Throws: `URLError`. If the policy refused the server, `TrustRejection(underlying:)` returns the reason.
    public func download(for request: URLRequest) async throws -> (URL, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await download(for: request, delegate: .noDelegate)
        }
        return try await session.download(request, nil)
    }

    /// Downloads a URL, as `download(for:)` downloads a request.
    public func download(from url: URL) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url))
    }
}

extension (any URLSessionTaskDelegate)? {
    /// An argument that selects Foundation's methods, because it has exactly their parameter's type. The literal `nil`
    /// would select the overloads below.
    fileprivate static var noDelegate: Self { nil }
}

// The same functions with a delegate for this one task. The session calls it in place of its own delegate.
extension URLSession {
    /// Loads a request with a delegate for this task, which the session calls in place of its own.
    ///
    /// - Throws: `URLError`. If the policy refused the server, `TrustRejection(underlying:)` returns the reason.
    public func data(
        for request: URLRequest, delegate: any URLSessionTaskDelegate
    ) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await data(for: request, delegate: Optional(delegate))
        }
        return try await session.load(request, delegate)
    }

    /// Loads a URL with a delegate for this task, as `data(for:delegate:)` loads a request.
    public func data(from url: URL, delegate: any URLSessionTaskDelegate) async throws -> (Data, URLResponse) {
        try await data(for: URLRequest(url: url), delegate: delegate)
    }

    /// Uploads content with a delegate for this task, which the session calls in place of its own.
    ///
    /// - Throws: `URLError`. If the policy refused the server, `TrustRejection(underlying:)` returns the reason.
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: any URLSessionTaskDelegate
    ) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await upload(for: request, from: bodyData, delegate: Optional(delegate))
        }
        return try await session.load(request, content: .data(bodyData), delegate)
    }

    /// Uploads a file with a delegate for this task, which the session calls in place of its own.
    ///
    /// - Throws: `URLError`. If the policy refused the server, `TrustRejection(underlying:)` returns the reason.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: any URLSessionTaskDelegate
    ) async throws -> (Data, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await upload(for: request, fromFile: fileURL, delegate: Optional(delegate))
        }
        return try await session.load(request, content: .file(path: fileURL.path, size: nil), delegate)
    }

    /// Downloads to a file in the temporary directory, with a delegate for this task. The caller moves or removes the
    /// file.
    ///
    /// - Throws: `URLError`. If the policy refused the server, `TrustRejection(underlying:)` returns the reason.
    public func download(
        for request: URLRequest, delegate: any URLSessionTaskDelegate
    ) async throws -> (URL, URLResponse) {
        guard let session = self as? PinnedURLSession else {
            return try await download(for: request, delegate: Optional(delegate))
        }
        return try await session.download(request, delegate)
    }

    /// Downloads a URL with a delegate for this task, as `download(for:delegate:)` downloads a request.
    public func download(from url: URL, delegate: any URLSessionTaskDelegate) async throws -> (URL, URLResponse) {
        try await download(for: URLRequest(url: url), delegate: delegate)
    }
}

// The same functions for `delegate: nil`, written as a literal.
extension URLSession {
    /// Loads a request. `delegate: nil` means no delegate for this task.
    public func data(for request: URLRequest, delegate: NoTaskDelegate) async throws -> (Data, URLResponse) {
        try await data(for: request)
    }

    /// Loads a URL. `delegate: nil` means no delegate for this task.
    public func data(from url: URL, delegate: NoTaskDelegate) async throws -> (Data, URLResponse) {
        try await data(from: url)
    }

    /// Uploads content. `delegate: nil` means no delegate for this task.
    public func upload(
        for request: URLRequest, from bodyData: Data, delegate: NoTaskDelegate
    ) async throws -> (Data, URLResponse) {
        try await upload(for: request, from: bodyData)
    }

    /// Uploads a file. `delegate: nil` means no delegate for this task.
    public func upload(
        for request: URLRequest, fromFile fileURL: URL, delegate: NoTaskDelegate
    ) async throws -> (Data, URLResponse) {
        try await upload(for: request, fromFile: fileURL)
    }

    /// Downloads to a file in the temporary directory. `delegate: nil` means no delegate for this task.
    public func download(for request: URLRequest, delegate: NoTaskDelegate) async throws -> (URL, URLResponse) {
        try await download(for: request)
    }

    /// Downloads a URL to a file in the temporary directory. `delegate: nil` means no delegate for this task.
    public func download(from url: URL, delegate: NoTaskDelegate) async throws -> (URL, URLResponse) {
        try await download(from: url)
    }
}

extension PinnedURLSession {
    fileprivate func load(
        _ request: URLRequest, content: RequestContent? = nil, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (Data, URLResponse) {
        let outcome = TaskOutcome()
        let isUpload = content != nil
        let loader = TaskLoader(
            self, resources, request: request, content: content,
            delivery: .caller(
                { data, _, response, error in outcome.settle(content: data, response, error) },
                makeTask: { isUpload ? PinnedUploadTask($0) : PinnedDataTask($0) }))
        let product = try await run(loader, outcome, delegate)
        return (product.content, product.response)
    }

    fileprivate func download(
        _ request: URLRequest, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> (URL, URLResponse) {
        let outcome = TaskOutcome()
        let loader = TaskLoader(
            self, resources, request: request,
            delivery: .caller(
                { _, file, response, error in
                    file?.persist()
                    outcome.settle(file: file?.url, response, error)
                }, makeTask: { PinnedDownloadTask($0) }), isDownload: true)
        let product = try await run(loader, outcome, delegate)
        guard let file = product.file else { throw URLError(.unknown) }
        return (file, product.response)
    }

    private func run(
        _ loader: TaskLoader, _ outcome: TaskOutcome, _ delegate: (any URLSessionTaskDelegate)?
    ) async throws -> TaskOutcome.Product {
        loader.admit()
        if let delegate { loader.outbox.taskDelegate = delegate }
        return try await outcome.value {
            // A progress that is current becomes the parent of a task that is made meanwhile.
            let task = Progress.current() == nil ? nil : loader.task
            loader.resume()
            withExtendedLifetime(task) {}
        } cancel: {
            loader.cancel()
        }
    }
}

extension TaskOutcome {
    fileprivate func settle(
        content: Data? = nil, file: URL? = nil, _ response: URLResponse?, _ error: (any Error)?
    ) {
        if let response, content != nil || file != nil {
            settle(.success(Product(content: content ?? Data(), file: file, response: response)))
        } else {
            settle(.failure(error ?? URLError(.unknown)))
        }
    }
}

/// The type of the literal `nil` in `data(for:delegate:)`, `upload` and `download` on Linux.
///
/// You never write this type. It conforms to `URLSessionTaskDelegate`, so Swift prefers the overloads that take it to
/// Foundation's overloads, which take an optional delegate and cannot pin.
public final class NoTaskDelegate: NSObject, URLSessionTaskDelegate, ExpressibleByNilLiteral, Sendable {
    public init(nilLiteral: ()) {}
}
