import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Servers that send more bytes than their response has. RFC 9112 section 9.2: they must not become the response to
    /// the next request of that connection.
    @Suite("Bytes behind a response")
    struct LeftoverTests {
        /// A response whose end the client knows, so that the connection can carry another request.
        enum Shape: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case length, empty, chunked, noContent, notModified, head, resetContent, error

            var testDescription: String { rawValue }

            var text: String {
                switch self {
                case .length: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                case .empty: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                case .chunked: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
                case .noContent: "HTTP/1.1 204 No Content\r\n\r\n"
                case .notModified: "HTTP/1.1 304 Not Modified\r\n\r\n"
                case .head: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"
                case .resetContent: "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n"
                case .error: "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"
                }
            }
        }

        /// The way in which the bytes behind the response come.
        enum Arrival: String, CaseIterable, Sendable, CustomTestStringConvertible {
            /// In the same record of TLS, in the next one, half in each, or a moment after the client has the response.
            case atOnce, behind, split, late
            /// No more bytes come.
            case never

            var testDescription: String { rawValue }
        }

        private static let leftover = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

        private static func write(_ shape: Shape, _ arrival: Arrival, to stream: any ByteStream) throws {
            let middle = leftover.index(leftover.startIndex, offsetBy: 20)
            switch arrival {
            case .atOnce: try stream.write(Array((shape.text + leftover).utf8))
            case .split:
                try stream.write(Array((shape.text + leftover[..<middle]).utf8))
                try stream.write(Array(leftover[middle...].utf8))
            case .behind, .late:
                try stream.write(Array(shape.text.utf8))
                if arrival == .late { usleep(50_000) }
                try stream.write(Array(leftover.utf8))
            case .never: try stream.write(Array(shape.text.utf8))
            }
        }

        /// Makes the first request of a connection, waits, and makes another one, whose response is `good`.
        private func exchange(
            _ session: URLSession, _ url: URL, _ shape: Shape, then method: String
        ) async throws -> Data {
            var first = URLRequest(url: url)
            if shape == .head { first.httpMethod = "HEAD" }
            _ = try await session.data(for: first)
            try await Task.sleep(for: .milliseconds(150))
            var second = URLRequest(url: try #require(URL(string: "second", relativeTo: url)))
            second.httpMethod = method
            if method == "POST" { second.httpBody = Data("pay 100".utf8) }
            return try await session.data(for: second).0
        }

        @Test(
            "Bytes behind a response never become the next response, and the next request is sent once",
            arguments: Shape.allCases, Arrival.allCases)
        func leftovers(shape: Shape, arrival: Arrival) async throws {
            let fixture = try SessionFixture()
            for (method, version) in [("GET", LoopbackTLSServer.Version.tls13), ("POST", .tls13), ("POST", .tls12)] {
                let second = Mutex(0)
                let server = try LoopbackTLSServer(fixture.identity) { configuration in
                    configuration.versions = version...version
                    configuration.application = .stream { stream in
                        while let head = try? stream.read(upTo: 4_096), !head.isEmpty {
                            guard String(decoding: head, as: UTF8.self).contains("/second") else {
                                try? Self.write(shape, arrival, to: stream)
                                continue
                            }
                            second.withLock { $0 += 1 }
                            // The content of a POST may come in a record of its own.
                            if head.first == UInt8(ascii: "P"), !head.ends(with: "pay 100") {
                                _ = try? stream.read(exactly: 7)
                            }
                            try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".utf8))
                        }
                    }
                }
                let session = URLSession.pinned(to: try fixture.policy())
                let content = try await exchange(session, try server.address(), shape, then: method)
                #expect(content == Data("good".utf8), "\(method) over \(version)")
                #expect(second.withLock { $0 } == 1)
                // libcurl drops what comes in the same record, and may keep the connection.
                if arrival != .atOnce { #expect(server.completedHandshakeCount == (arrival == .never ? 1 : 2)) }
            }
        }

        @Test(
            "Without TLS, bytes behind a response never become the next response either", arguments: Shape.allCases,
            Arrival.allCases)
        func plain(shape: Shape, arrival: Arrival) async throws {
            let server = try LoopbackTCPServer { connection in
                while let head = try? connection.read(upTo: 4_096), !head.isEmpty {
                    if String(decoding: head, as: UTF8.self).contains("/second") {
                        try? connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".utf8))
                    } else {
                        try? Self.write(shape, arrival, to: connection)
                    }
                }
            }
            let url = try #require(URL(string: "http://127.0.0.1:\(server.port)/"))
            let session = URLSession.pinned(to: try SessionFixture().policy())
            #expect(try await exchange(session, url, shape, then: "GET") == Data("good".utf8))
        }

        /// Bytes that come over an idle connection and are no response.
        enum Event: String, CaseIterable, Sendable, CustomTestStringConvertible {
            case none, ticket, keyUpdate, closeNotify, endOfFile, reset

            var testDescription: String { rawValue }
        }

        @Test(
            "What happens to an idle connection does not fail the next request, and the server gets that once",
            arguments: Event.allCases, ["GET", "POST", "POST of a stream"])
        func idle(event: Event, kind: String) async throws {
            let method = String(kind.prefix { $0 != " " })
            let fixture = try SessionFixture()
            let requests = Mutex<[String]>([])
            let server = try fixture.server(stream: { stream in
                while let head = try? stream.read(upTo: 4_096), !head.isEmpty {
                    let text = String(decoding: head, as: UTF8.self)
                    if head.first == UInt8(ascii: "P"), !head.ends(with: "pay 100") {
                        _ = try? stream.read(exactly: 7)
                    }
                    requests.withLock { $0.append(String(text.prefix { $0 != " " })) }
                    try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".utf8))
                    guard !text.contains("/second") else { continue }
                    usleep(50_000)
                    switch event {
                    case .none: break
                    case .ticket: try? (stream as? TLSServerConnection)?.sendTicket()
                    case .keyUpdate: try? (stream as? TLSServerConnection)?.updateKeys(times: 1)
                    case .closeNotify: return
                    case .endOfFile, .reset:
                        (stream as? TLSServerConnection)?.cut(isReset: event == .reset)
                        return
                    }
                }
            })
            let delegate = RecordingDelegate(stream: { InputStream(data: Data("pay 100".utf8)) })
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
            defer { session.invalidateAndCancel() }
            if kind == method {
                let content = try await exchange(session, try server.address(), .length, then: method)
                #expect(content == Data("good".utf8))
            } else {
                _ = try await session.data(from: try server.address())
                try await Task.sleep(for: .milliseconds(150))
                var request = URLRequest(url: try server.address("second"))
                request.httpMethod = method
                request.setValue("7", forHTTPHeaderField: "Content-Length")
                let task = session.uploadTask(withStreamedRequest: request)
                await delegate.run(task)
                #expect(task.error == nil)
                #expect(delegate.log.withLock { $0.data } == Data("good".utf8))
            }
            #expect(requests.withLock { $0 } == ["GET", method])
            if event == .none { #expect(server.completedHandshakeCount == 1) }
        }

        @Test(
            "If all kept connections are dead, a request gets a new one, and the server gets it once",
            arguments: [1, 3], ["GET", "POST", "POST of a stream"])
        func allDead(count: Int, kind: String) async throws {
            let method = String(kind.prefix { $0 != " " })
            let fixture = try SessionFixture()
            let first = Atomic(0)
            let requests = Mutex<[String]>([])
            let server = try fixture.server(stream: { stream in
                while let head = try? stream.read(upTo: 4_096), !head.isEmpty {
                    let text = String(decoding: head, as: UTF8.self)
                    if text.contains("/second") {
                        requests.withLock { $0.append(String(text.prefix { $0 != " " })) }
                        if method == "POST", !head.ends(with: "pay 100") { _ = try? stream.read(exactly: 7) }
                        try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood".utf8))
                    } else {
                        // The first requests wait for each other, so that each gets a connection of its own.
                        first.add(1, ordering: .relaxed)
                        for _ in 0..<5_000 where first.load(ordering: .relaxed) < count { usleep(1_000) }
                        try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
                        usleep(50_000)
                        (stream as? TLSServerConnection)?.cut(isReset: false)
                        return
                    }
                }
            })
            let delegate = RecordingDelegate(stream: { InputStream(data: Data("pay 100".utf8)) })
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral, delegate: delegate)
            defer { session.invalidateAndCancel() }
            let address = try server.address()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask { await #expect(throws: Never.self) { try await session.data(from: address) } }
                }
            }
            try await Task.sleep(for: .milliseconds(150))
            var request = URLRequest(url: try server.address("second"))
            request.httpMethod = method
            if kind == "POST" { request.httpBody = Data("pay 100".utf8) }
            request.setValue(method == "POST" ? "7" : nil, forHTTPHeaderField: "Content-Length")
            let task =
                kind == method ? session.dataTask(with: request) : session.uploadTask(withStreamedRequest: request)
            await delegate.run(task)
            #expect(task.error == nil)
            #expect(delegate.log.withLock { $0.data } == Data("good".utf8))
            #expect(requests.withLock(\.self) == [method])
            #expect(server.completedHandshakeCount == count + 1)
        }

        @Test(
            "With requests at once, a server that ends each connection behind its response gets each request once",
            arguments: ["GET", "POST"], [true, false])
        func endsBehindResponses(method: String, saysSo: Bool) async throws {
            let fixture = try SessionFixture()
            let counts = Mutex<[String: Int]>([:])
            let server = try fixture.server(stream: { stream in
                var received: [UInt8] = []
                while let piece = try? stream.read(upTo: 4_096), !piece.isEmpty {
                    received += piece
                    let text = String(decoding: received, as: UTF8.self)
                    guard let end = text.range(of: "\r\n\r\n"), method == "GET" || text[end.upperBound...].count == 7
                    else {
                        continue
                    }
                    let number = String(text.split(separator: " ")[1].dropFirst())
                    counts.withLock { $0[number, default: 0] += 1 }
                    let head = "HTTP/1.1 200 OK\r\nContent-Length: \(number.utf8.count)\r\n\r\n"
                    try? stream.write(Array((head + number).utf8))
                    if !saysSo { (stream as? TLSServerConnection)?.cut(isReset: false) }
                    return
                }
            })
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
            defer { session.invalidateAndCancel() }
            let base = try server.address()
            for round in 0..<30 {
                await withTaskGroup(of: Void.self) { group in
                    for index in 0..<20 {
                        group.addTask {
                            let number = "\(round * 20 + index)"
                            guard let url = URL(string: number, relativeTo: base) else { return }
                            var request = URLRequest(url: url)
                            request.httpMethod = method
                            if method == "POST" { request.httpBody = Data("pay 100".utf8) }
                            // A request over a connection that has just ended may fail, but is not joined with another.
                            guard let content = try? await session.data(for: request).0 else { return }
                            #expect(String(decoding: content, as: UTF8.self) == number)
                        }
                    }
                }
            }
            #expect(counts.withLock { $0.count } > 300)
            if method == "POST" { #expect(counts.withLock { $0.filter { $0.value > 1 } }.isEmpty) }
        }

        @Test(
            "A request that is not idempotent goes over a connection that was used in the last seconds, or a new one",
            arguments: ["GET", "POST"], ["http/1.1", "h2"])
        func idleTime(method: String, applicationProtocol: String) async throws {
            let fixture = try SessionFixture()
            let server = try LoopbackTLSServer(fixture.identity) { $0.applicationProtocols = [applicationProtocol] }
            let session = URLSession.pinned(to: try fixture.policy())
            var request = URLRequest(url: try server.address())
            _ = try await session.data(for: request)
            request.httpMethod = method
            _ = try await session.data(for: request)
            #expect(server.completedHandshakeCount == 1)
            try await Task.sleep(for: .seconds(5))
            for _ in 0..<2 { _ = try await session.data(for: request) }
            #expect(server.completedHandshakeCount == (method == "POST" ? 2 : 1))
            #expect(server.requests.map(\.method) == ["GET", method, method, method])
        }

        @Test("Without TLS, each request has a connection of its own; with TLS they share one")
        func plainConnections() async throws {
            let fixture = try SessionFixture()
            let (plain, secure) = (try LoopbackTCPServer.http(), try fixture.server())
            let session = URLSession.pinned(to: try fixture.policy())
            let url = try #require(URL(string: "http://127.0.0.1:\(plain.port)/"))
            for _ in 0..<3 {
                _ = try await session.data(from: url)
                _ = try await session.data(from: try secure.address())
            }
            #expect(plain.connectionCount == 3)
            #expect(secure.connectionCount == 1)
        }
    }
}

extension [UInt8] {
    func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
