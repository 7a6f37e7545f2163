import Foundation
import FoundationNetworking
import PintleURLSession
import Synchronization
import Testing

/// Every kind of task and call with which a session can make a request.
enum TaskStyle: String, CaseIterable, CustomTestStringConvertible {
    case dataAsync, dataCompletion, dataDelegate
    case uploadDataAsync, uploadDataCompletion, uploadDataDelegate
    case uploadFileAsync, uploadFileCompletion, uploadFileDelegate
    case uploadStreamDelegate
    case downloadAsync, downloadCompletion, downloadDelegate

    var testDescription: String { rawValue }

    var isUpload: Bool { rawValue.hasPrefix("upload") }

    /// The content of uploads.
    static let content = Data("the secret of the house".utf8)

    /// Makes a request, and returns the content of the response.
    func run(on session: URLSession, _ request: URLRequest) async throws -> Data {
        var request = request
        if isUpload { request.httpMethod = "PUT" }
        return switch self {
        case .dataAsync: try await session.data(for: request).0
        case .dataCompletion: try await completion { session.dataTask(with: request, completionHandler: $0) }
        case .dataDelegate: try await recorded(session.dataTask(with: request))
        case .uploadDataAsync: try await session.upload(for: request, from: Self.content).0
        case .uploadDataCompletion:
            try await completion { session.uploadTask(with: request, from: Self.content, completionHandler: $0) }
        case .uploadDataDelegate: try await recorded(session.uploadTask(with: request, from: Self.content))
        case .uploadFileAsync:
            try await Self.withFile { try await session.upload(for: request, fromFile: $0).0 }
        case .uploadFileCompletion:
            try await Self.withFile { file in
                try await completion { session.uploadTask(with: request, fromFile: file, completionHandler: $0) }
            }
        case .uploadFileDelegate:
            try await Self.withFile { try await recorded(session.uploadTask(with: request, fromFile: $0)) }
        case .uploadStreamDelegate:
            try await answered(session.uploadTask(withStreamedRequest: request))
        case .downloadAsync: try Self.taken(try await session.download(for: request).0)
        case .downloadCompletion:
            try await completion { handler in
                session.downloadTask(with: request) { file, response, error in
                    handler(file.flatMap { try? Data(contentsOf: $0) }, response, error)
                }
            }
        case .downloadDelegate: try await recorded(session.downloadTask(with: request))
        }
    }

    private func completion(
        _ make: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            make { data, _, error in
                if let data {
                    continuation.resume(returning: data)
                } else {
                    continuation.resume(throwing: error ?? URLError(.unknown))
                }
            }.resume()
        }
    }

    private func recorded(_ task: URLSessionTask) async throws -> Data {
        let recorder = Recorder()
        task.delegate = recorder
        await recorder.run(task)
        let log = recorder.log.withLock { $0 }
        if let error = log.error { throw error }
        return log.downloaded ?? log.data
    }

    /// Runs a task as ``recorded(_:)`` does, with a delegate that provides the stream.
    private func answered(_ task: URLSessionTask) async throws -> Data {
        let delegate = RecordingDelegate(stream: { InputStream(data: Self.content) })
        task.delegate = delegate
        await delegate.run(task)
        if let error = delegate.error { throw error }
        return delegate.log.withLock { $0.data }
    }

    private static func withFile<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("pintle-\(UUID().uuidString)")
        try content.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try await body(file)
    }

    private static func taken(_ file: URL) throws -> Data {
        defer { try? FileManager.default.removeItem(at: file) }
        return try Data(contentsOf: file)
    }
}
