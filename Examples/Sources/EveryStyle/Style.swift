import Foundation
import FoundationNetworking

/// A way to send a request with a session, and its result.
struct Style: Sendable {
    let name: String
    let method: String
    let run: @Sendable (URLSession, URLRequest) async throws -> Data

    static let content = Data("what the server gets".utf8)

    private init(
        _ name: String, method: String = "GET", _ run: @escaping @Sendable (URLSession, URLRequest) async throws -> Data
    ) {
        self.name = name
        self.method = method
        self.run = run
    }

    static func all(file: URL) -> [Style] { asynchronous(file) + completionHandlers(file) + delegates(file) }

    private static func asynchronous(_ file: URL) -> [Style] {
        [
            Style("data, async") { try await $0.data(for: $1).0 },
            Style("data, async, with a delegate") { try await $0.data(for: $1, delegate: Delegate()).0 },
            Style("upload of data, async", method: "PUT") { try await $0.upload(for: $1, from: content).0 },
            Style("upload of a file, async", method: "PUT") { try await $0.upload(for: $1, fromFile: file).0 },
            Style("download, async") { session, request in
                let (location, _) = try await session.download(for: request)
                defer { try? FileManager.default.removeItem(at: location) }
                return try Data(contentsOf: location)
            },
        ]
    }

    private static func completionHandlers(_ file: URL) -> [Style] {
        [
            Style("data, completion handler") { session, request in
                try await completion { session.dataTask(with: request, completionHandler: $0) }
            },
            Style("upload of data, completion handler", method: "PUT") { session, request in
                try await completion { session.uploadTask(with: request, from: content, completionHandler: $0) }
            },
            Style("upload of a file, completion handler", method: "PUT") { session, request in
                try await completion { session.uploadTask(with: request, fromFile: file, completionHandler: $0) }
            },
            Style("download, completion handler") { session, request in
                try await completion { handler in
                    session.downloadTask(with: request) { location, response, error in
                        handler(location.flatMap { try? Data(contentsOf: $0) }, response, error)
                    }
                }
            },
        ]
    }

    private static func delegates(_ file: URL) -> [Style] {
        [
            Style("data, delegate") { try await Delegate().run($0.dataTask(with: $1)) },
            Style("upload of data, delegate", method: "PUT") {
                try await Delegate().run($0.uploadTask(with: $1, from: content))
            },
            Style("upload of a file, delegate", method: "PUT") {
                try await Delegate().run($0.uploadTask(with: $1, fromFile: file))
            },
            Style("upload of a stream, delegate", method: "PUT") {
                try await Delegate().run($0.uploadTask(withStreamedRequest: $1))
            },
            Style("download, delegate") { try await Delegate().run($0.downloadTask(with: $1)) },
        ]
    }

    private static func completion(
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
}
