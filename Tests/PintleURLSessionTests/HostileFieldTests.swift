import Foundation
import FoundationNetworking
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Field values that are no UTF-8 (RFC 9110 section 5.5).
    @Suite("Bytes in fields")
    struct FieldBytes {
        private let fixture: SessionFixture

        init() throws { fixture = try SessionFixture() }

        /// A server that answers each request with the next of some responses and keeps the requests' heads.
        private final class ByteServer: Sendable {
            let server: LoopbackTLSServer
            private let heads: Shared

            private final class Shared: Sendable { let list = Mutex<[[UInt8]]>([]) }

            /// - Parameter fields: A field of each response. The last one counts for all further responses.
            init(_ fixture: SessionFixture, status: Int = 200, fields: [[UInt8]]) throws {
                let heads = Shared()
                self.heads = heads
                server = try fixture.server(stream: { stream in
                    var head: [UInt8] = []
                    while let piece = try? stream.read(upTo: 1), !piece.isEmpty {
                        head += piece
                        guard head.suffix(4) == [0x0D, 0x0A, 0x0D, 0x0A] else { continue }
                        let number = heads.list.withLock { list in
                            list.append(head)
                            return list.count - 1
                        }
                        head = []
                        let isFirst = number < fields.count
                        let line = "HTTP/1.1 \(isFirst ? status : 200) OK\r\nContent-Length: 0\r\n"
                        let field = isFirst ? fields[number] + [0x0D, 0x0A] : []
                        try? stream.write(Array(line.utf8) + field + [0x0D, 0x0A])
                    }
                })
            }

            /// The request lines, in Latin-1.
            var targets: [String] {
                heads.list.withLock { $0 }.map { head in
                    String(decoding: head.split(separator: 0x20)[1], as: UTF8.self)
                }
            }

            /// The bytes of the last request's cookies.
            var cookies: [UInt8]? {
                let name = Array("\r\ncookie: ".utf8)
                guard let head = heads.list.withLock({ $0.last }) else { return nil }
                let lower = head.map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
                for start in lower.indices where lower[start...].starts(with: name) {
                    return Array(head[(start + name.count)...].prefix { $0 != 0x0D })
                }
                return nil
            }
        }

        private static let latin1: [UInt8] = [0x63, 0xE9, 0x80, 0xFF]
        private static let utf8: [UInt8] = Array("c\u{E9}\u{4E2D}".utf8)

        @Test("A value that is no UTF-8 is read as Latin-1, and any other as UTF-8", arguments: [true, false])
        func response(isLatin1: Bool) async throws {
            let value = isLatin1 ? Self.latin1 : Self.utf8
            let server = try ByteServer(fixture, fields: [Array("X-Name: ".utf8) + value])
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
            let response = try await session.data(from: try server.server.address()).1 as? HTTPURLResponse
            let expected = isLatin1 ? "c\u{E9}\u{80}\u{FF}" : "c\u{E9}\u{4E2D}"
            #expect(response?.value(forHTTPHeaderField: "X-Name") == expected)
        }

        @Test("A cookie goes back in the bytes that came", arguments: [latin1, utf8, Array("cee".utf8)])
        func cookie(value: [UInt8]) async throws {
            let fields = [
                Array("Set-Cookie: a=".utf8) + value + Array("; Max-Age=60".utf8), Array("Set-Cookie: b=1".utf8),
            ]
            let server = try ByteServer(fixture, fields: fields)
            let configuration = URLSessionConfiguration.ephemeral
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            for _ in 0..<3 { _ = try await session.data(from: try server.server.address()) }
            #expect(server.cookies == Array("a=".utf8) + value + Array("; b=1".utf8))
        }

        @Test("A cookie of the app's own goes as UTF-8, also beside one that is none")
        func ownCookie() async throws {
            let server = try ByteServer(fixture, fields: [Array("Set-Cookie: b=".utf8) + Self.latin1])
            let configuration = URLSessionConfiguration.ephemeral
            let own: [HTTPCookiePropertyKey: Any] = [.name: "a", .value: "\u{E9}", .domain: "localhost", .path: "/"]
            configuration.httpCookieStorage?.setCookie(try #require(HTTPCookie(properties: own)))
            let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
            _ = try await session.data(from: try server.server.address())
            #expect(server.cookies == Array("a=\u{E9}".utf8))
            _ = try await session.data(from: try server.server.address())
            #expect(server.cookies == Array("a=\u{E9}; b=".utf8) + Self.latin1)
        }

        private static let locations: [([UInt8], String)] = [
            ([0x2F, 0xE9, 0x2F, 0x3F, 0x64, 0x3D, 0xFF, 0x80], "/%E9/?d=%FF%80"),
            (Array("/c\u{E9}".utf8), "/c%C3%A9"), (Array("/c%E9".utf8), "/c%E9"), (Array("/cee".utf8), "/cee"),
        ]

        @Test(
            "A Location of raw bytes is followed with the bytes percent-encoded, as in curl", arguments: locations)
        func location(value: [UInt8], target: String) async throws {
            let server = try ByteServer(fixture, status: 302, fields: [Array("Location: ".utf8) + value])
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
            let response = try await session.data(from: try server.server.address()).1 as? HTTPURLResponse
            #expect(response?.statusCode == 200 && server.targets == ["/", target])
        }

        @Test("A host of raw bytes is not followed, and one with an A-label is", arguments: [true, false])
        func host(isRaw: Bool) async throws {
            let address = try fixture.server()
            let host = isRaw ? [0x6C, 0xE9] : Array("localhost".utf8)
            let location = Array("Location: https://".utf8) + host + Array(":\(address.port)/".utf8)
            let server = try ByteServer(fixture, status: 302, fields: [location])
            let session = URLSession.pinned(to: try fixture.policy(), configuration: .ephemeral)
            let result = await Task { try await session.data(from: try server.server.address()) }.result
            #expect(((try? result.get()) == nil) == isRaw)
            #expect(address.requests.count == (isRaw ? 0 : 1))
        }
    }
}
