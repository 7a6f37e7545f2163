import Foundation
import FoundationNetworking
import PintleAttacks
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// libcurl speaks with proxies before the handshake, and keeps their tunnels.
    @Suite("Hostile peers: proxies")
    struct LibraryProxies {
        private let fixture: SessionFixture

        init() throws { fixture = try SessionFixture() }

        private func session(_ kind: String, _ port: UInt16, user: String? = nil) throws -> PinnedURLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = 5
            configuration.connectionProxyDictionary = ["\(kind)Proxy": "127.0.0.1", "\(kind)Port": Int(port)]
            if let user {
                configuration.connectionProxyDictionary?["kCFProxyUsernameKey"] = user
                configuration.connectionProxyDictionary?["kCFProxyPasswordKey"] = "secret"
            }
            return URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        }

        /// The bytes with which an HTTP proxy opens a tunnel, and whether the tunnel works.
        static let openings: [(String, Bool?)] = [
            ("HTTP/1.1 200 OK\r\n\r\n", true), ("HTTP/1.0 200 OK\r\n\r\n", true), ("HTTP/1.1 204 No\r\n\r\n", true),
            ("HTTP/1.1 299 Yes\r\n\r\n", true), ("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nProxy-Authenticate: Negotiate\r\n\r\n", true),
            // libcurl 7.88 takes an interim response for a refusal.
            ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", nil),
            ("HTTP/1.1 103 Hints\r\nContent-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", nil),
            ("HTTP/2 200 OK\r\n\r\n", nil),
            // Bytes behind the head belong to the tunnel, where they are no TLS.
            ("HTTP/1.1 200 OK\r\n\r\nhello", false), ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", false),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", false),
            ("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfake", false),
            ("HTTP/1.1 200 OK\r\n\r\n\u{15}\u{3}\u{3}\u{0}\u{2}\u{1}\u{0}", false),
        ]

        @Test("Content comes from the judged server only, however a proxy opens its tunnel", arguments: openings)
        func tunnel(opening: String, isOpen: Bool?) async throws {
            let server = try fixture.server()
            let bytes = opening.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            let proxy = try LoopbackProxy(.httpConnect, opening: bytes)
            try await check(try session("HTTPS", proxy.port), server, isOpen: isOpen)
        }

        /// Replies of a SOCKS proxy (RFC 1928 section 6), and whether the tunnel works.
        static let replies: [([UInt8], Bool)] = [
            ([5, 0, 0, 1, 0, 0, 0, 0, 0, 0], true), ([5, 0, 0, 4] + [UInt8](repeating: 7, count: 18), true),
            ([5, 0, 0, 3, 255] + [UInt8](repeating: 0x41, count: 257), true), ([5, 0, 0, 3, 0, 0, 0], false),
            ([5, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Array("HTTP/1.1 200 OK\r\n\r\nfake".utf8), false),
            ([5, 1, 0, 1, 0, 0, 0, 0, 0, 0], false), ([5, 0, 0, 9, 0, 0, 0, 0, 0, 0], false),
            ([4, 0, 0, 1, 0, 0, 0, 0, 0, 0], false),
        ]

        @Test("Content comes from the judged server only, whatever a SOCKS proxy replies", arguments: replies)
        func socks(reply: [UInt8], isOpen: Bool) async throws {
            let server = try fixture.server()
            let proxy = try LoopbackProxy(.socks5, opening: reply)
            try await check(try session("SOCKS", proxy.port), server, isOpen: isOpen)
        }

        /// - Parameter isOpen: `nil` if versions of libcurl differ.
        private func check(_ session: PinnedURLSession, _ server: LoopbackTLSServer, isOpen: Bool?) async throws {
            do {
                let (data, response) = try await session.data(from: try server.address())
                #expect(data == Data("ok\n".utf8) && response.trustReceipt?.matchedPin != nil && isOpen != false)
            } catch let error as URLError {
                #expect(!error.isAboutTrust && error.refusal == nil && isOpen != true, "\(error)")
                #expect(server.requestByteCount == 0)
            }
        }

        /// The method that a SOCKS proxy chooses (RFC 1928 section 3).
        @Test(
            "A SOCKS proxy is offered only what the session has: never the machine's Kerberos ticket",
            arguments: [0, 1, 2, 3, 0xFF] as [UInt8], [nil, "me"])
        func methods(chosen: UInt8, user: String?) async throws {
            let server = try fixture.server()
            let heard = Mutex<[[UInt8]]>([])
            let proxy = try LoopbackTCPServer { connection in
                guard let greeting = try? connection.read(upTo: 512) else { return }
                heard.withLock { $0.append(greeting) }
                try? connection.write([5, chosen])
                guard let next = try? connection.read(upTo: 512) else { return }
                heard.withLock { $0.append(next) }
            }
            let session = try session("SOCKS", proxy.port, user: user)
            let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
            #expect(error?.isAboutTrust == false && error?.refusal == nil)
            let said = heard.withLock { $0 }
            #expect(said.first == (user == nil ? [5, 1, 0] : [5, 2, 0, 2]))
            let text = said.dropFirst().map { String(decoding: $0, as: UTF8.self) }.joined()
            #expect(text.contains("secret") == (chosen == 2 && user != nil))
        }

        @Test(
            "A name that SOCKS cannot carry does not reach libcurl, from a redirect neither",
            arguments: [253, 254, 300])
        func longName(count: Int) async throws {
            // libcurl before 8.4 wrote such a name behind its buffer (CVE-2023-38545).
            let name = (String(repeating: "a.", count: 126) + "b").padding(
                toLength: count, withPad: "ab.", startingAt: 0)
            let server = try fixture.server { _ in .redirect(to: "https://\(name)/") }
            let port = server.port
            let proxy = try LoopbackProxy(.socks5) { host, _ in host == "localhost" ? port : nil }
            let session = try session("SOCKS", proxy.port)
            for url in [try server.address(), try #require(URL(string: "https://\(name)/"))] {
                let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
                #expect(error?.refusal == (count > 253 ? .invalidRequest : nil))
            }
            #expect(proxy.connections.map { $0.host?.utf8.count } == (count > 253 ? [9] : [9, 253, 253]))
        }

        @Test("A proxy's connection that opened no tunnel is not used again", arguments: [200, 407, 502])
        func refusedTunnel(status: Int) async throws {
            let server = try fixture.server()
            let heard = Mutex<[String]>([])
            let proxy = try LoopbackTCPServer { connection in
                while let bytes = try? connection.read(upTo: 4_096), !bytes.isEmpty {
                    heard.withLock { $0.append(String(decoding: bytes.prefix(7), as: UTF8.self)) }
                    let fields =
                        "Proxy-Authenticate: Basic realm=r\r\nContent-Length: 0\r\nProxy-Connection: keep-alive"
                    try? connection.write(Array("HTTP/1.1 \(status) X\r\n\(fields)\r\n\r\n".utf8))
                    if status == 200 { break }
                }
            }
            let session = try session("HTTPS", proxy.port, user: "me")
            for _ in 0..<2 {
                let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
                #expect(error?.localizedDescription.contains("\(status)") == (status != 200))
            }
            #expect(proxy.connectionCount == 2 && heard.withLock { $0 } == ["CONNECT", "CONNECT"])
        }

        @Test("A server behind a proxy does not get the proxy's credentials by asking for them", arguments: [407, 200])
        func askedByServer(status: Int) async throws {
            let server = try fixture.server { _ in
                HTTPResponse(status: status, fields: [HTTPField("Proxy-Authenticate", "Basic realm=\"r\"")])
            }
            let proxy = try LoopbackProxy(.httpConnect, credentials: .init(user: "me", password: "secret"))
            let session = try session("HTTPS", proxy.port, user: "me")
            // The second request uses a tunnel that the first one has opened.
            for _ in 0..<2 {
                var request = URLRequest(url: try server.address())
                (request.httpMethod, request.httpBody) = ("POST", Data("x".utf8))
                #expect((try await session.data(for: request).1 as? HTTPURLResponse)?.statusCode == status)
            }
            #expect(server.requests.count == 2)
            #expect(server.requests.allSatisfy { $0["proxy-authorization"] == nil && $0["authorization"] == nil })
        }

        @Test("A tunnel to one server carries no request for another", arguments: ["HTTPS", "SOCKS"])
        func tunnels(kind: String) async throws {
            let other = try fixture.root.issue(hosts: ["127.0.0.1"])
            let (first, second) = (try fixture.server(), try LoopbackTLSServer(other))
            let ports = [first.port, second.port]
            let proxy = try LoopbackProxy(kind == "SOCKS" ? .socks5 : .httpConnect) { host, _ in
                host == "localhost" ? ports.first : ports.last
            }
            let session = try session(kind, proxy.port)
            for _ in 0..<2 { _ = try await session.data(from: try first.address()) }
            // The same port, so that only the host differs.
            let error = await #expect(throws: URLError.self) {
                try await session.data(from: try first.address(host: "127.0.0.1"))
            }
            #expect(error?.isAboutTrust == true)
            #expect(proxy.connections.map(\.host) == ["localhost", "127.0.0.1"])
            #expect(first.requests.count == 2 && second.requestByteCount == 0)
        }
    }
}
