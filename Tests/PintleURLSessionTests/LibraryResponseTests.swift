import Foundation
import FoundationNetworking
import PintleAttacks
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// libcurl acts on parts of a response itself: interim responses, trailers, pushed responses, statuses and chunks.
    @Suite("Hostile peers: responses that libcurl acts on")
    struct LibraryResponses {
        private let fixture: SessionFixture

        init() throws { fixture = try SessionFixture() }

        /// Returns a server that answers each request of HTTP/1.1 with the same bytes.
        private func server(_ answer: String, log: RequestLog = RequestLog()) throws -> LoopbackTLSServer {
            try fixture.server(stream: { stream in
                while let request = try? stream.read(upTo: 1 << 16), !request.isEmpty {
                    log.add(request)
                    try? stream.write(Array(answer.utf8))
                }
            })
        }

        /// Returns a server that answers the first request over HTTP/2 with the same frames, and each further one with
        /// `next`.
        private func streams(_ frames: [UInt8], then later: [UInt8] = []) throws -> LoopbackTLSServer {
            try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.applicationProtocols = ["h2"]
                configuration.application = .stream { stream in
                    guard Frame.readRequest(stream) else { return }
                    try? stream.write(frames)
                    if !later.isEmpty {
                        // By then the client has read the first frames.
                        usleep(100_000)
                        try? stream.write(later)
                    }
                    while let number = Frame.readNextRequest(stream) {
                        try? stream.write(
                            Frame.head([(":status", "200")], stream: number)
                                + Frame.frame(0, flags: 1, stream: number, Array("next".utf8)))
                    }
                }
            }
        }

        private func session(seconds: Double = 5) throws -> PinnedURLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = seconds
            return URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        }

        // MARK: Expect

        @Test("No request waits for 100 Continue, and a 417 is the response", arguments: [417, 200])
        func expectation(status: Int) async throws {
            let log = RequestLog()
            let server = try fixture.server { request in
                log.add(Array("\(request.fields.map(\.name)) \(request.body.count)".utf8))
                return HTTPResponse(status: status)
            }
            let session = try session()
            var request = URLRequest(url: try server.address())
            request.httpMethod = "POST"
            request.setValue("100-continue", forHTTPHeaderField: "Expect")
            // libcurl asks with more than 1 MiB.
            request.httpBody = Data(repeating: 0x78, count: 3 << 20)
            #expect((try await session.data(for: request).1 as? HTTPURLResponse)?.statusCode == status)
            #expect(log.texts.count == 1)
            #expect(log.texts.first?.hasSuffix(" 3145728") == true && log.texts.first?.contains("Expect") == false)
        }

        // MARK: Interim responses

        static let interims: [(status: Int, fields: String, isRefused: Bool)] = [
            (100, "X: 1\r\n", false), (102, "X: 1\r\n", false), (103, "Set-Cookie: c=interim\r\n", false),
            (103, "Location: https://localhost/\r\nWWW-Authenticate: Basic realm=r\r\n", false),
            (199, "Connection: close\r\nCache-Control: max-age=60\r\n", false),
            (103, "Content-Length: 2\r\n", true), (103, "Transfer-Encoding: chunked\r\n", true),
            (103, "Content-Encoding: gzip\r\n", true), (101, "Upgrade: h2c\r\nConnection: Upgrade\r\n", true),
            (101, "Upgrade: websocket\r\nConnection: Upgrade\r\n", true), (101, "", true),
        ]

        @Test(
            "An interim response adds nothing to the final one, and switches no protocol", arguments: interims,
            [true, false])
        func interim(_ interim: (status: Int, fields: String, isRefused: Bool), isAsked: Bool) async throws {
            let server = try server(
                "HTTP/1.1 \(interim.status) Interim\r\n\(interim.fields)\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            )
            let session = try session(seconds: 2)
            var request = URLRequest(url: try server.address())
            if isAsked {
                request.setValue("Upgrade, HTTP2-Settings", forHTTPHeaderField: "Connection")
                request.setValue("h2c", forHTTPHeaderField: "Upgrade")
                request.setValue("AAMAAABkAAQAAP__", forHTTPHeaderField: "HTTP2-Settings")
            }
            if interim.isRefused {
                let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
                #expect(error?.code == .badServerResponse && error?.isAboutTrust == false, "\(error as Any)")
            } else {
                let (data, response) = try await session.data(for: request)
                #expect(data == Data("ok".utf8))
                let fields = (response as? HTTPURLResponse)?.allHeaderFields ?? [:]
                #expect(fields.keys.map { "\($0)" } == ["Content-Length"])
                #expect(session.configuration.httpCookieStorage?.cookies?.isEmpty == true)
            }
        }

        // MARK: Streams

        /// Heads, and whether they give a response; `nil` if versions of nghttp2 differ.
        static let statuses: [(fields: [(String, String)], isWhole: Bool?)] = [
            ([(":status", "200")], true), ([(":status", "101")], false), ([(":status", "000")], false),
            ([(":status", "2000")], false), ([(":status", "2 0")], false), ([("x", "y")], false),
            ([(":status", "200"), (":status", "200")], false), ([("x", "y"), (":status", "200")], false),
            ([(":status", "200"), (":path", "/")], false), ([(":status", "200"), ("connection", "close")], false),
            ([(":status", "200"), ("upgrade", "h2c")], false),
            ([(":status", "200"), ("transfer-encoding", "chunked")], false),
            ([(":status", "200"), ("content-length", "3")], false),
            ([(":status", "200"), ("content-length", "4")], true),
            ([(":status", "200"), ("x", "y\r\ncontent-length: 3")], nil), ([(":status", "200"), ("X", "y")], false),
        ]

        @Test("A malformed head of a stream is an error, or its malformed field is dropped", arguments: statuses)
        func heads(_ head: (fields: [(String, String)], isWhole: Bool?)) async throws {
            let server = try streams(Frame.head(head.fields, stream: 1) + Frame.data("body", isLast: true))
            do {
                let (data, response) = try await session(seconds: 2).data(from: try server.address())
                #expect(data == Data("body".utf8) && head.isWhole != false)
                let fields = (response as? HTTPURLResponse)?.allHeaderFields ?? [:]
                #expect(fields.keys.allSatisfy { "\($0)" == "Content-Length" }, "\(fields)")
                #expect(fields.values.allSatisfy { "\($0)" == "4" }, "\(fields)")
            } catch let error as URLError {
                #expect(!error.isAboutTrust && error.refusal == nil && head.isWhole != true, "\(error)")
                #expect([.networkConnectionLost, .badServerResponse].contains(error.code), "\(error)")
            }
        }

        /// Trailers. nghttp2 refuses some, because a stream must not have them (RFC 9113 section 8.1).
        static let trailerFields: [(fields: [(String, String)], isWhole: Bool)] = [
            ([("x", "y")], true), ([("set-cookie", "c=trailer")], true), ([("location", "/x")], true),
            ([("content-encoding", "gzip"), ("x-status", "401"), ("connection", "keep-alive")], false),
            ([("content-length", "2")], false), ([("transfer-encoding", "chunked")], false),
            ([(":status", "401")], false),
        ]

        @Test("Trailers change nothing about a response", arguments: trailerFields, [true, false])
        func trailers(_ trailers: (fields: [(String, String)], isWhole: Bool), isStream: Bool) async throws {
            let lines = trailers.fields.map { "\($0): \($1)\r\n" }.joined()
            let server =
                isStream
                ? try streams(Frame.head + Frame.data("body") + Frame.head(trailers.fields, isLast: true, stream: 1))
                : try server("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\(lines)\r\n")
            let session = try session(seconds: 2)
            if trailers.isWhole || !isStream {
                let (data, answer) = try await session.data(from: try server.address())
                let response = try #require(answer as? HTTPURLResponse)
                #expect(data == Data("body".utf8) && response.statusCode == 200)
                #expect(response.allHeaderFields.keys.allSatisfy { "\($0)" == "Transfer-Encoding" })
                #expect(session.configuration.httpCookieStorage?.cookies?.isEmpty == true)
            } else {
                let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
                #expect(error?.code == .networkConnectionLost && error?.isAboutTrust == false, "\(error as Any)")
            }
        }

        /// The frames that come before a pushed response; `nil` for none at all.
        static let pushes: [[UInt8]?] = [nil, [], Frame.acknowledgement]

        @Test("A pushed response answers no request", arguments: pushes)
        func push(before: [UInt8]?) async throws {
            let promised = Frame.literals([
                (":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", "/next"),
            ])
            let pushed =
                Frame.frame(5, flags: 4, stream: 1, [0, 0, 0, 2] + promised)
                + Frame.head([(":status", "200")], stream: 2) + Frame.frame(0, flags: 1, stream: 2, Array("push".utf8))
            let frames = before.map { $0 + Frame.head + pushed } ?? Frame.head
            let server = try streams(frames + Frame.data("body", isLast: true))
            let session = try session(seconds: 2)
            do {
                #expect(try await session.data(from: try server.address()).0 == Data("body".utf8))
                #expect(before?.isEmpty != false)
                #expect(try await session.data(from: try server.address("next")).0 == Data("next".utf8))
            } catch let error as URLError {
                // nghttp2 ends the connection: the server knows that the client takes no pushed response (RFC 9113
                // section 8.4). libcurl 7.88 waits on.
                #expect(before?.isEmpty == false && !error.isAboutTrust)
                #expect([.networkConnectionLost, .timedOut].contains(error.code), "\(error)")
            }
        }

        // MARK: Repetitions

        /// Frames after which libcurl sends a request again over another connection.
        static let refusals: [(name: String, frames: [UInt8])] = [
            ("REFUSED_STREAM", Frame.reset(code: 7)), ("HTTP_1_1_REQUIRED", Frame.reset(code: 13)),
        ]

        @Test(
            "A request that is sent again gets a verdict again",
            arguments: refusals + [("GOAWAY", Frame.goAway(last: 0))], [true, false])
        func repetition(_ refusal: (name: String, frames: [UInt8]), isHonest: Bool) async throws {
            // Only these say that the server has not processed the request. Before 8.1, libcurl's word for
            // REFUSED_STREAM is no proof.
            let isProof = refusal.name == "GOAWAY" || refusal.name == "REFUSED_STREAM" && !CurlLibrary.copiesStreams
            let methods = (refusal.name == "GOAWAY" ? [] : ["GET", "PUT"]) + (isProof ? ["POST"] : [])
            for method in methods { try await repeats(method, after: refusal.frames, isHonest) }
        }

        private func request(_ method: String, to server: LoopbackTLSServer) throws -> URLRequest {
            var request = URLRequest(url: try server.address())
            request.httpMethod = method
            if method != "GET" { request.httpBody = Data("pay 100".utf8) }
            return request
        }

        /// A proxy that leads the first connection to a server with these frames, and later ones to another server.
        private struct Route {
            let first, second: LoopbackTLSServer
            let proxy: LoopbackProxy
            let session: PinnedURLSession
        }

        private func route(_ frames: [UInt8], then later: [UInt8] = [], isHonest: Bool = true) throws -> Route {
            let first = try streams(frames, then: later)
            let second = try LoopbackTLSServer(isHonest ? fixture.identity : try fixture.root.issue())
            let ports = [first.port, second.port]
            let count = Atomic(0)
            let proxy = try LoopbackProxy(.httpConnect) { _, _ in
                ports[min(1, count.add(1, ordering: .relaxed).oldValue)]
            }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            return Route(first: first, second: second, proxy: proxy, session: session)
        }

        private func repeats(_ method: String, after frames: [UInt8], _ isHonest: Bool) async throws {
            let route = try route(frames, isHonest: isHonest)
            let request = try request(method, to: route.first)
            if isHonest {
                #expect(try await route.session.data(for: request).0 == Data("ok\n".utf8))
                #expect(route.second.requests.map(\.body) == [method == "GET" ? [] : Array("pay 100".utf8)])
            } else {
                let error = await #expect(throws: URLError.self) { try await route.session.data(for: request) }
                #expect(error.flatMap { TrustRejection(underlying: $0) }?.reason == "pin-mismatch")
                #expect(route.second.requestByteCount == 0)
            }
            #expect(route.proxy.connections.count == 2)
        }

        @Test(
            "A payment that may have been made is not sent again, even over the connection that was made for it",
            arguments: refusals.dropFirst() + [("CANCEL", Frame.reset(code: 8))])
        func payment(_ refusal: (name: String, frames: [UInt8])) async throws {
            let route = try route(refusal.frames)
            let request = try request("POST", to: route.first)
            let error = await #expect(throws: URLError.self) { try await route.session.data(for: request) }
            #expect(error?.code == .networkConnectionLost)
            #expect(error?.localizedDescription.contains("may have performed the POST") == true, "\(error as Any)")
            #expect(route.second.requestByteCount == 0)
        }

        /// The beginnings of a response before a server refuses the stream.
        static let beginnings: [(name: String, frames: [UInt8])] = [
            ("interim", Frame.head([(":status", "103")], stream: 1)),
            ("head", Frame.head([(":status", "201"), ("x-first", "1")], stream: 1)),
            ("length", Frame.head(length: 2)), ("content", Frame.head + Frame.data("xxx")),
        ]

        @Test(
            "Nothing of a response that comes with its refusal is delivered",
            arguments: beginnings, refusals)
        func dropped(
            _ beginning: (name: String, frames: [UInt8]), _ refusal: (name: String, frames: [UInt8])
        ) async throws {
            for method in ["GET", "PUT"] {
                let route = try route(beginning.frames + refusal.frames)
                let request = try request(method, to: route.first)
                // Since 8.1, libcurl reads the response before it learns of the refusal. Then the response has begun.
                guard CurlLibrary.copiesStreams else {
                    let error = await #expect(throws: URLError.self) { try await route.session.data(for: request) }
                    #expect(error?.code == .networkConnectionLost, "\(method) \(error as Any)")
                    #expect(route.second.requestByteCount == 0)
                    continue
                }
                let (data, response) = try await route.session.data(for: request)
                let head = try #require(response as? HTTPURLResponse)
                #expect(data == Data("ok\n".utf8) && head.statusCode == 200)
                #expect(head.value(forHTTPHeaderField: "x-first") == nil)
            }
        }

        @Test(
            "A response that has begun is not joined with that of a request that is sent again",
            arguments: beginnings, refusals)
        func joined(
            _ beginning: (name: String, frames: [UInt8]), _ refusal: (name: String, frames: [UInt8])
        ) async throws {
            for method in ["GET", "PUT", "POST"] {
                let route = try route(beginning.frames, then: refusal.frames)
                let request = try request(method, to: route.first)
                let error = await #expect(throws: URLError.self) { try await route.session.data(for: request) }
                #expect(error?.code == .networkConnectionLost, "\(method) \(error as Any)")
                #expect(route.second.requestByteCount == 0)
            }
        }

        // MARK: Chunks and versions

        static let bodies: [(String, String, Bool)] = [
            ("HTTP/1.1 200 OK", "4\r\nbody\r\n0\r\n\r\n", true),
            ("HTTP/1.1 200 OK", "4;a=\"b\"\r\nbody\r\n0;x\r\n\r\n", true),
            ("HTTP/1.1 200 OK", "0004\r\nbody\r\n000\r\n\r\n", true),
            ("HTTP/1.1 200 OK", "-4\r\nbody\r\n0\r\n\r\n", false),
            ("HTTP/1.1 200 OK", "+4\r\nbody\r\n0\r\n\r\n", false),
            ("HTTP/1.1 200 OK", "0x4\r\nbody\r\n0\r\n\r\n", false), ("HTTP/1.1 200 OK", "\r\nbody\r\n0\r\n\r\n", false),
            ("HTTP/1.1 200 OK", "8000000000000000\r\nbody\r\n0\r\n\r\n", false),
            ("HTTP/1.1 200 OK", "10000000000000004\r\nbody\r\n0\r\n\r\n", false),
            ("HTTP/1.1 200 OK", "3\r\nbody\r\n0\r\n\r\n", false), ("HTTP/1.1 200 OK", "4\r\nbody0\r\n\r\n", false),
            ("ICY 200 OK", "4\r\nbody\r\n0\r\n\r\n", false), ("RTSP/1.0 200 OK", "4\r\nbody\r\n0\r\n\r\n", false),
            ("HTTP/0.9 200 OK", "4\r\nbody\r\n0\r\n\r\n", false), ("HTTP/3 200 OK", "4\r\nbody\r\n0\r\n\r\n", false),
            ("HTTP/1.1 20 OK", "4\r\nbody\r\n0\r\n\r\n", false), ("HTTP/1.1 2000 OK", "4\r\nbody\r\n0\r\n\r\n", false),
        ]

        @Test("Chunks and status lines outside the grammar give no response", arguments: bodies)
        func chunks(_ answer: (line: String, content: String, isWhole: Bool)) async throws {
            let server = try server("\(answer.line)\r\nTransfer-Encoding: chunked\r\n\r\n\(answer.content)")
            let session = try session(seconds: 2)
            if answer.isWhole {
                #expect(try await session.data(from: try server.address()).0 == Data("body".utf8))
            } else {
                let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
                #expect(error?.isAboutTrust == false && error?.refusal == nil)
            }
        }
    }
}

/// The requests that a server has received.
private final class RequestLog: Sendable {
    private let requests = Mutex<[String]>([])
    var texts: [String] { requests.withLock { $0 } }

    func add(_ request: [UInt8]) { requests.withLock { $0.append(String(decoding: request, as: UTF8.self)) } }
}

extension Frame {
    /// The acknowledgement of the client's SETTINGS.
    static let acknowledgement = frame(4, flags: 1, stream: 0, [])

    /// Returns fields as literals that are not indexed (RFC 7541 section 6.2.2). Each part is shorter than 127 bytes.
    static func literals(_ fields: [(String, String)]) -> [UInt8] {
        func text(_ text: String) -> [UInt8] { [UInt8(truncatingIfNeeded: text.utf8.count)] + Array(text.utf8) }
        return fields.flatMap { [0] + text($0) + text($1) }
    }

    static func head(_ fields: [(String, String)], isLast: Bool = false, stream: UInt8) -> [UInt8] {
        frame(1, flags: isLast ? 5 : 4, stream: stream, literals(fields))
    }
}
