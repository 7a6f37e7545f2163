import Foundation
import FoundationNetworking
import PintleAttacks
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Fields of the app that are about one connection (RFC 9110 sections 7.6.1 and 11.7.2).
    @Suite("Connection fields")
    struct ConnectionFields {
        /// A server that ends the connection after a request with `Connection: close`, and does not say so.
        private static func server(_ fixture: SessionFixture) throws -> LoopbackTLSServer {
            try fixture.server(stream: { stream in
                var text = ""
                while let piece = try? stream.read(upTo: 4_096), !piece.isEmpty {
                    text += String(decoding: piece, as: UTF8.self)
                    guard text.hasSuffix("pay 100") else { continue }
                    try? stream.write(Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8))
                    if text.lowercased().contains("close") { return }
                    text = ""
                }
            })
        }

        @Test(
            "A connection carries no request after one with Connection: close, and others are kept",
            arguments: [("close", 8), ("Keep-Alive, Close", 8), ("keep-alive", 1), (nil, 1)] as [(String?, Int)],
            [true, false])
        func close(_ row: (value: String?, connections: Int), isOfSession: Bool) async throws {
            let fixture = try SessionFixture()
            let server = try Self.server(fixture)
            let configuration = URLSessionConfiguration.ephemeral
            if isOfSession, let value = row.value { configuration.httpAdditionalHeaders = ["Connection": value] }
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            var request = URLRequest(url: try server.address())
            request.httpMethod = "POST"
            request.httpBody = Data("pay 100".utf8)
            if !isOfSession { request.setValue(row.value, forHTTPHeaderField: "connection") }
            for _ in 0..<8 {
                #expect(try await (session.data(for: request).1 as? HTTPURLResponse)?.statusCode == 200)
            }
            #expect(server.completedHandshakeCount == row.connections)
        }

        @Test("Over HTTP/2, Connection: close does not end the connection that other requests share")
        func streams() async throws {
            let fixture = try SessionFixture()
            let server = try LoopbackTLSServer(fixture.identity) { $0.applicationProtocols = ["h2"] }
            let session = URLSession.pinned(to: try fixture.policy())
            var request = URLRequest(url: try server.address())
            request.setValue("close", forHTTPHeaderField: "Connection")
            for _ in 0..<3 { _ = try await session.data(for: request) }
            #expect(server.completedHandshakeCount == 1)
            #expect(server.requests.allSatisfy { $0["connection"] == nil })
        }

        @Test(
            "Credentials for a proxy never reach a server, and the proxy gets them",
            arguments: [true, false], [true, false])
        func proxyCredentials(hasProxy: Bool, isOfSession: Bool) async throws {
            let fixture = try SessionFixture()
            let server = try fixture.server()
            let port = server.port
            let proxy = try LoopbackProxy(.httpConnect, credentials: .init(user: "u", password: "p")) { _, _ in port }
            let configuration = URLSessionConfiguration.ephemeral
            if hasProxy {
                configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
            }
            if isOfSession { configuration.httpAdditionalHeaders = ["Proxy-Authorization": "Basic dTpw"] }
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            var request = URLRequest(url: try server.address())
            if !isOfSession { request.setValue("Basic dTpw", forHTTPHeaderField: "Proxy-Authorization") }
            request.setValue("1", forHTTPHeaderField: "X-Other")
            _ = try await session.data(for: request)
            let seen = try #require(server.requests.first)
            #expect(seen["proxy-authorization"] == nil && seen["x-other"] == "1")
            #expect(proxy.connections.map(\.isUnauthorized) == (hasProxy ? [false] : []))
        }

        @Test(
            "Credentials for a proxy survive a redirect to another origin over the same proxy",
            arguments: [true, false])
        func redirect(isOfSession: Bool) async throws {
            let fixture = try SessionFixture()
            let target = try fixture.server()
            let location = try target.address().absoluteString
            let server = try fixture.server { _ in
                HTTPResponse(status: 302, reason: "Found", fields: [HTTPField("Location", location)], body: [])
            }
            let ports = [server.port, target.port]
            let count = Atomic(0)
            let proxy = try LoopbackProxy(.httpConnect, credentials: .init(user: "u", password: "p")) { _, _ in
                ports[min(count.add(1, ordering: .relaxed).oldValue, 1)]
            }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
            if isOfSession { configuration.httpAdditionalHeaders = ["Proxy-Authorization": "Basic dTpw"] }
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            var request = URLRequest(url: try server.address())
            if !isOfSession { request.setValue("Basic dTpw", forHTTPHeaderField: "Proxy-Authorization") }
            _ = try await session.data(for: request)
            #expect(target.requests.count == 1 && target.requests.first?["proxy-authorization"] == nil)
            #expect(proxy.connections.map(\.isUnauthorized) == [false, false])
        }

        @Test("A redirect to another proxy removes the credentials", arguments: ["127.0.0.1", "127.0.0.2"])
        func otherProxy(host: String) throws {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.connectionProxyDictionary = [
                "HTTPProxy": "127.0.0.1", "HTTPPort": 8_080, "HTTPSProxy": host, "HTTPSPort": 8_080,
            ]
            var request = URLRequest(url: try #require(URL(string: "http://a.example/")))
            request.setValue("Basic dTpw", forHTTPHeaderField: "Proxy-Authorization")
            request.setValue("Basic YTpi", forHTTPHeaderField: "Authorization")
            let url = try #require(request.url)
            let response = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 302, httpVersion: nil,
                    headerFields: ["Location": "https://a.example/"]))
            let next = try Redirect.request(after: response, to: request, over: ProxySetting(configuration))
            #expect(next?.value(forHTTPHeaderField: "Authorization") == nil)
            #expect((next?.value(forHTTPHeaderField: "Proxy-Authorization") != nil) == (host == "127.0.0.1"))
        }
    }
}
