import Foundation
import FoundationNetworking
import PintleTestKit
import Testing

@testable import PintleURLSession

extension HostilePeers {
    /// Servers that send a response before they have got a request.
    @Suite("Early responses")
    struct EarlyResponses {
        private static func response(_ text: String) -> [UInt8] {
            Array("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8)
        }

        @Test(
            "A response that comes with the end of the handshake is no response to the first request",
            arguments: [true, false])
        func early(isEarly: Bool) async throws {
            let fixture = try SessionFixture()
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.versions = .tls12 ... .tls12
                if isEarly { configuration.earlyContent = Self.response("early") }
                configuration.application = .stream { stream in
                    while let piece = try? stream.read(upTo: 4_096), !piece.isEmpty {
                        let target = String(decoding: piece, as: UTF8.self).split(separator: " ").dropFirst().first
                        try? stream.write(Self.response(String(target ?? "")))
                    }
                }
            }
            let session = URLSession.pinned(to: try fixture.policy())
            for name in ["a", "b", "c"] {
                if isEarly {
                    let error = await #expect(throws: URLError.self) {
                        try await session.data(from: try server.address(name))
                    }
                    #expect(error?.code == .badServerResponse && error?.isAboutTrust == false)
                    #expect(error?.localizedDescription.contains("before the request") == true)
                } else {
                    #expect(try await session.data(from: try server.address(name)).0 == Data("/\(name)".utf8))
                }
            }
            if isEarly { #expect(server.requestByteCount == 0) }
        }

        @Test(
            "A response before the request is found even if the handshake has used up what a turn may read",
            arguments: [true, false])
        func usedUp(isEarly: Bool) async throws {
            let fixture = try SessionFixture()
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.versions = .tls12 ... .tls12
                if isEarly { configuration.earlyContent = Self.response("early") }
                configuration.application = .http { _ in .ok }
            }
            var options = CurlTransport.Options()
            options.readLimits.perTurn = 64
            let session = URLSession.pinned(to: try fixture.policy(), options: options)
            if isEarly {
                let error = await #expect(throws: URLError.self) { try await session.data(from: try server.address()) }
                #expect(error?.code == .badServerResponse && server.requestByteCount == 0)
            } else {
                _ = try await session.data(from: try server.address())
            }
        }

        @Test("Over HTTP/2, the server's SETTINGS may come before the request")
        func settings() async throws {
            let fixture = try SessionFixture()
            let server = try LoopbackTLSServer(fixture.identity) { configuration in
                configuration.versions = .tls12 ... .tls12
                configuration.applicationProtocols = ["h2"]
                configuration.earlyContent = Frame.settings
                configuration.application = .stream { stream in
                    guard (try? stream.read(exactly: Frame.preface.count)) == Frame.preface else { return }
                    while let number = Frame.readNextRequest(stream) {
                        try? stream.write(Frame.empty(stream: number))
                    }
                }
            }
            let session = URLSession.pinned(to: try fixture.policy())
            for _ in 0..<2 { _ = try await session.data(from: try server.address()) }
            #expect(server.completedHandshakeCount == 1)
        }

        @Test("Tickets and KeyUpdate messages before the request are no content", arguments: [true, false])
        func messages(isTicket: Bool) async throws {
            let fixture = try SessionFixture()
            let server = try fixture.server(stream: { stream in
                let exposed = stream as? TLSServerConnection
                if isTicket { try? exposed?.sendTicket() } else { try? exposed?.updateKeys(times: 2) }
                while let piece = try? stream.read(upTo: 4_096), !piece.isEmpty {
                    try? stream.write(Self.response("ok"))
                }
            })
            let session = URLSession.pinned(to: try fixture.policy())
            for _ in 0..<20 {
                #expect(try await session.data(from: try server.address()).0 == Data("ok".utf8))
            }
        }
    }
}
