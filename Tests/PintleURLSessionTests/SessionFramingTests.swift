import Foundation
import FoundationNetworking
import PintleAttacks
import PintleTestKit
import Synchronization
import Testing

@testable import PintleURLSession

/// The end of content (RFC 9112 section 6.3).
@Suite("Pinned sessions: framing")
struct SessionFramingTests {
    private let fixture: SessionFixture

    init() throws { fixture = try SessionFixture() }

    private func load(_ head: String, _ content: String, isPlain: Bool) async throws -> (Data, URLResponse) {
        let session = URLSession.pinned(to: try fixture.policy())
        let serve: @Sendable (any ByteStream) -> Void = { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("\(head.hasPrefix("HTTP/") ? "" : "HTTP/1.1 ")\(head)\r\n\(content)".utf8))
        }
        if isPlain {
            let server = try LoopbackTCPServer { serve($0) }
            return try await session.data(from: try #require(URL(string: "http://127.0.0.1:\(server.port)/")))
        }
        let server = try fixture.server(stream: serve)
        return try await session.data(from: try server.address())
    }

    static let invalid: [(head: String, fault: String)] = [
        ("200 OK\r\nTransfer-Encoding: identity\r\n", "the transfer coding of the response is not chunked"),
        ("200 OK\r\nTransfer-Encoding:\r\n", "the transfer coding of the response is not chunked"),
        ("200 OK\r\nTransfer-Encoding: chunked, identity\r\n", "the transfer coding of the response is not chunked"),
        ("200 OK\r\nTransfer-Encoding: xchunked\r\n", "the transfer coding of the response is not chunked"),
        ("200 OK\r\nTransfer-Encoding: gzip, chunked\r\n", "the transfer coding of the response is not chunked"),
        (
            "200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "the transfer coding of the response is not chunked"
        ),
        (
            "200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n",
            "the transfer coding of the response is not chunked"
        ),
        ("200 OK\r\nContent-Length: 99999999999999999999\r\n", "the length of the response is not a number"),
        ("200 OK\r\nContent-Length: 9223372036854775808\r\n", "the length of the response is not a number"),
        ("200 OK\r\nContent-Length: +5\r\n", "the length of the response is not a number"),
        ("200 OK\r\nContent-Length: 0x5\r\n", "the length of the response is not a number"),
        ("200 OK\r\nContent-Length: 5 5\r\n", "the length of the response is not a number"),
        ("200 OK\r\nContent-Length: 5,\r\n", "the length of the response is not a number"),
        ("200 OK\r\nContent-Length: 5, 6\r\n", "the response has several lengths"),
        ("200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n", "the response has several lengths"),
        ("HTTP/2 200 OK\r\n", "the status line has another version of HTTP"),
        ("HTTP/2 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n", "the status line has another version of HTTP"),
        (
            "100 Continue\r\nContent-Length: 2\r\n\r\nHTTP/1.1 200 OK\r\n",
            "an interim response has a field about content"
        ),
        (
            "100 Continue\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n",
            "an interim response has a length, and the final response has none"
        ),
        (
            "100 Continue\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
            "an interim response has a field about content"
        ),
    ]

    @Test("An invalid length or transfer coding is an error", arguments: invalid, [false, true])
    func refused(_ answer: (head: String, fault: String), isPlain: Bool) async throws {
        let error = await #expect(throws: URLError.self) { try await load(answer.head, "body!", isPlain: isPlain) }
        #expect(error?.code == .badServerResponse)
        #expect(error?.isAboutTrust == false)
        // libcurl 8 finds some of these faults itself, and has its own words for them.
        let text = error?.localizedDescription ?? ""
        let own = ["Invalid Content-Length:", "Version mismatch", "Transfer-Encoding ("]
        #expect(
            text == answer.fault || CurlLibrary.version.hasPrefix("8.") && own.contains(where: text.contains), "\(text)"
        )
    }

    @Test(
        "Content with a valid length, chunked content and content up to close_notify are complete",
        arguments: [
            ("200 OK\r\nContent-Length: 5\r\n", "body!"), ("200 OK\r\nContent-Length: 5, 5\r\n", "body!"),
            ("200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n", "body!"),
            ("200 OK\r\nTransfer-Encoding: chunked\r\n", "5\r\nbody!\r\n0\r\n\r\n"),
            ("200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 4\r\n", "5\r\nbody!\r\n0\r\n\r\n"),
            ("200 OK\r\n", "body!"), ("100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "body!"),
            ("100 Continue\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n", "body!"),
            (
                "100 Continue\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n",
                "5\r\nbody!\r\n0\r\n\r\n"
            ),
        ], [false, true])
    func valid(_ answer: (head: String, content: String), isPlain: Bool) async throws {
        let (data, response) = try await load(answer.head, answer.content, isPlain: isPlain)
        #expect(data == Data("body!".utf8))
        let length = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Length")
        #expect(length == nil || length == "5" || answer.head.contains("Chunked"))
    }

    /// A response whose connection is cut after half of it, the error, and a control that ends properly.
    struct Cut: Sendable {
        let field: String
        let content: String
        let code: URLError.Code
        /// The text of the error, if the head itself is refused.
        var fault: String?
        let twin: (field: String, content: String)
    }

    static let cuts = [
        Cut(
            field: "Transfer-Encoding: identity\r\n", content: "half", code: .badServerResponse,
            fault: "the transfer coding of the response is not chunked",
            twin: ("Transfer-Encoding: chunked\r\n", "4\r\nhalf\r\n0\r\n\r\n")),
        Cut(
            field: "Content-Length: 99999999999999999999\r\n", content: "half", code: .badServerResponse,
            fault: "the length of the response is not a number", twin: ("Content-Length: 4\r\n", "half")),
        Cut(
            field: "Content-Length: 8\r\n", content: "half", code: .networkConnectionLost,
            twin: ("Content-Length: 4\r\n", "half")),
        Cut(
            field: "Transfer-Encoding: chunked\r\n", content: "4\r\nhalf\r\n", code: .networkConnectionLost,
            twin: ("Transfer-Encoding: chunked\r\n", "4\r\nhalf\r\n0\r\n\r\n")),
        Cut(field: "", content: "half", code: .networkConnectionLost, twin: ("", "half")),
    ]

    @Test("A cut connection never completes content; close_notify completes content without a length", arguments: cuts)
    func cut(_ cut: Cut) async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = try fixture.server(stream: { stream in
            _ = try? stream.read(upTo: 4_096)
            try? stream.write(Array("HTTP/1.1 200 OK\r\n\(cut.field)\r\n\(cut.content)".utf8))
            gate.wait()
        })
        let proxy = try LoopbackProxy(.httpConnect)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.connectionProxyDictionary = ["HTTPSProxy": "127.0.0.1", "HTTPSPort": Int(proxy.port)]
        let session = URLSession.pinned(to: try fixture.policy(), configuration: configuration)
        let address = try server.address()
        let arrival = ContentArrival()
        let request = Task { try await session.data(for: URLRequest(url: address), delegate: arrival).0 }
        if cut.fault == nil {
            try await aside {
                arrival.semaphore.wait()
                proxy.close()
            }
        }
        let error = await #expect(throws: URLError.self) { try await request.value }
        #expect(error?.code == cut.code)
        #expect(error?.isAboutTrust == false)
        if let fault = cut.fault { #expect(error?.localizedDescription == fault) }
        gate.signal()
        withExtendedLifetime((server, proxy)) {}
        #expect(try await load("200 OK\r\n\(cut.twin.field)", cut.twin.content, isPlain: false).0 == Data("half".utf8))
    }

    @Test("A transfer coding over HTTP/2 is an error", arguments: ["HTTP/1.1", "HTTP/2"])
    func http2(version: String) {
        var head = ResponseHead(status: 200, version: version, fields: [("transfer-encoding", "chunked")])
        let isStream = version == "HTTP/2"
        let fault = isStream ? "the response has a transfer coding over HTTP/2" : nil
        #expect(head.checkFraming(isStream: isStream) == fault)
    }

    @Test("A length that repeats becomes one field of the response")
    func lengths() {
        var head = ResponseHead(
            status: 200, version: "HTTP/1.1",
            fields: [("Content-Length", "7 , 07"), ("X", "y"), ("content-length", "7")])
        #expect(head.checkFraming(isStream: false) == nil)
        #expect(head.fields.map { "\($0.name): \($0.value.text)" } == ["Content-Length: 7", "X: y"])
    }
}

/// A delegate that signals when content has come.
private final class ContentArrival: NSObject, URLSessionDataDelegate, Sendable {
    let semaphore = DispatchSemaphore(value: 0)

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { semaphore.signal() }
}
