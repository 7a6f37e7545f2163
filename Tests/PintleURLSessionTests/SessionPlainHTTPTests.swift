import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// Requests that may go without TLS, and requests that must not.
@Suite("Pinned sessions: plain HTTP")
struct SessionPlainHTTPTests {
    @Test("Plain HTTP is allowed only to hosts that the policy does not cover")
    func plainHTTP() async throws {
        let fixture = try SessionFixture()
        let server = try LoopbackTCPServer { connection in
            _ = try? connection.read(upTo: 4_096)
            try? connection.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
        }
        let session = URLSession.pinned(to: try fixture.policy())
        let error = await #expect(throws: URLError.self) {
            try await session.data(from: try #require(URL(string: "http://localhost:\(server.port)/")))
        }
        #expect(error?.refusal == .plainHTTP)
        let (data, response) = try await session.data(
            from: try #require(URL(string: "http://127.0.0.1:\(server.port)/")))
        #expect(data == Data("ok".utf8))
        #expect(response.trustReceipt == nil)
    }

    @Test(
        "A server that answers in plain HTTP or SSH instead of TLS is named so",
        arguments: [("HTTP/1.1 400 Bad", "plain HTTP"), ("SSH-2.0-x", "SSH")])
    func withoutTLS(greeting: String, name: String) async throws {
        let server = try LoopbackTCPServer { connection in
            try? connection.write(Array("\(greeting)\r\n\r\n".utf8))
            _ = try? connection.read(upTo: 4_096)
        }
        let session = URLSession.pinned(to: try SessionFixture().policy())
        let url = try #require(URL(string: "https://localhost:\(server.port)/"))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .secureConnectionFailed && error?.isAboutTrust == false)
        #expect(error?.localizedDescription == "localhost:\(server.port) answered in \(name) instead of TLS")
    }

    @Test("A rule for another port also refuses plain HTTP to its host", arguments: ["localhost", "127.0.0.1"])
    func ruleForAnotherPort(host: String) async throws {
        let fixture = try SessionFixture()
        let server = try LoopbackTCPServer.http()
        let session = URLSession.pinned(to: try fixture.policy(port: 8_443))
        let url = try #require(URL(string: "http://\(host):\(server.port)/"))
        if host == "localhost" {
            let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
            #expect(error?.refusal == .plainHTTP)
            #expect(server.connectionCount == 0)
        } else {
            #expect(try await session.data(from: url).0.count == 3)
        }
    }

    @Test("A status line that names HTTP/2 does not put two requests on one connection")
    func pretendedStreams() async throws {
        let fixture = try SessionFixture()
        // The connection of each target. The first target is never answered.
        let seen = Mutex<[String: Int]>([:])
        let connections = Atomic(0)
        let server = try LoopbackTCPServer { stream in
            let connection = connections.add(1, ordering: .relaxed).newValue
            while let bytes = try? stream.read(upTo: 4_096), !bytes.isEmpty {
                let target = String(decoding: bytes, as: UTF8.self).split(separator: " ").dropFirst().first ?? ""
                seen.withLock { $0[String(target)] = connection }
                if target == "/second" { try? stream.write(Array("HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)) }
                if target == "/third" {
                    try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
                }
            }
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 10
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        func url(_ path: String) throws -> URL {
            try #require(URL(string: "http://127.0.0.1:\(server.port)/\(path)"))
        }
        let first = session.dataTask(with: try url("first"))
        first.resume()
        while seen.withLock({ $0["/first"] }) == nil { try await Task.sleep(for: .milliseconds(1)) }
        let error = await #expect(throws: URLError.self) { try await session.data(from: try url("second")) }
        #expect(error?.code == .badServerResponse)
        #expect(try await session.data(from: try url("third")).0 == Data("ok".utf8))
        #expect(seen.withLock { $0["/first"] != $0["/third"] })
        first.cancel()
    }

    @Test("A secure cookie is sent only over TLS")
    func secureCookie() async throws {
        let fixture = try SessionFixture()
        let seen = Mutex<[String?]>([])
        let plain = try LoopbackTCPServer.http { request in
            seen.withLock { $0.append(request["cookie"]) }
            return .ok
        }
        let server = try fixture.server()
        let configuration = URLSessionConfiguration.ephemeral
        for (name, secure) in [("open", nil), ("closed", "TRUE")] {
            var properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: "1", .domain: "127.0.0.1", .path: "/"]
            properties[.secure] = secure
            configuration.httpCookieStorage?.setCookie(try #require(HTTPCookie(properties: properties)))
        }
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        _ = try await session.data(from: try #require(URL(string: "http://127.0.0.1:\(plain.port)/")))
        #expect(seen.withLock { $0 } == ["open=1"])
        let secured = URLSession.pinned(to: try fixture.policy(["127.0.0.1"]), configuration: configuration)
        _ = try await secured.data(from: try server.address(host: "127.0.0.1"))
        #expect(server.requests.last?["cookie"]?.contains("open=1") == true)
        #expect(server.requests.last?["cookie"]?.contains("closed=1") == true)
    }

    @Test("A cookie's path covers the paths below it")
    func cookiePath() {
        for (cookie, path, isCovered) in [
            ("/", "/", true), ("/", "/a", true), ("/a", "/a", true), ("/a", "/a/b", true), ("/a/", "/a/b", true),
            ("/a", "/ab", false), ("/a/", "/a", false), ("/b", "/a", false),
        ] {
            #expect(HTTPCookie.path(cookie, covers: path) == isCovered, "\(cookie) and \(path)")
        }
    }

    @Test(
        "Plain HTTP uses the proxy that is configured for it, and none if none is configured", arguments: [true, false])
    func proxy(isNamed: Bool) async throws {
        let fixture = try SessionFixture()
        let targets = Mutex<[String]>([])
        let server = try LoopbackTCPServer.http { request in
            targets.withLock { $0.append(request.target) }
            return .ok
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary =
            isNamed ? ["HTTPProxy": "127.0.0.1", "HTTPPort": Int(server.port)] : [:]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let address = isNamed ? "http://www.example/" : "http://127.0.0.1:\(server.port)/"
        #expect(try await session.data(from: try #require(URL(string: address))).0.count == 3)
        #expect(targets.withLock { $0 } == [isNamed ? address : "/"])
    }
}
