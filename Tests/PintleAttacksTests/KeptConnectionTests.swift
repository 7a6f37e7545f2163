import Glibc
import PintleTestPeers
import Synchronization
import Testing

@testable import PintleAttacks
@testable import PintleTestKit

/// The end of HTTP/2 connections to loopback servers and to the servers of attacks.
@Suite("Kept HTTP/2 connections")
struct KeptConnectionTests {
    private let directory: TemporaryDirectory
    private let catalogue: Catalogue
    private let anchors: String

    init() throws {
        directory = try TemporaryDirectory()
        catalogue = try Catalogue()
        anchors = try directory.write(catalogue.certificates.anchorsPEM, to: "anchors.pem")
    }

    private func scenario(_ id: String) throws -> Scenario { try #require(catalogue[id]) }

    /// Runs a client to its end, and returns its lines.
    private func run(_ steps: String..., port: UInt16) throws -> [String] {
        let result = try runProcess(SlowHTTP2Client.command(steps, port: port, anchors: anchors), timeout: 120)
        #expect(result.status == 0, "\(result.errorOutput)")
        return result.output.split(separator: "\n").map(String.init)
    }

    /// Starts a client that keeps its connections, and waits until it has printed a number of lines.
    private func start(_ steps: [String], port: UInt16, lines count: Int) throws -> ChildProcess {
        let log = directory.path(of: "log")
        let client = try ChildProcess(
            SlowHTTP2Client.command(steps + ["wait"], port: port, anchors: anchors), outputFile: log)
        var lines: [Substring] = []
        for _ in 0..<6_000 where lines.count < count {
            lines = try String(decoding: directory.read("log"), as: UTF8.self).split(separator: "\n")
            usleep(10_000)
        }
        #expect(lines == Array(repeating: "answered", count: count))
        return client
    }

    @Test(
        "A server of an attack keeps the connection of a slow client, and answers it again",
        arguments: ["control", "cross-signed", "trusted-interceptor", "redirect-to-http", "redirect-to-unpinned-host"])
    func kept(id: String) throws {
        let server = try scenario(id).start()
        #expect(
            try run("connect", "request", "read", "request", "read", port: server.port) == ["answered", "answered"])
        #expect(server.waitUntilAnswered(seconds: 20))
        let seen = server.observation()
        #expect(server.hasAnsweredAll && seen.connectionCount == 1)
        #expect(seen.leadingByteCount + seen.exposedByteCount > 0)
    }

    @Test(
        "A server whose attack is the end of the connection ends it",
        arguments: [
            ("retry-after-401", "answered goaway 1"), ("goaway-moves-request", "goaway 0 end"),
            ("refused-stream-moves-request", "reset 7 goaway 0 end"),
        ])
    func ended(id: String, line: String) throws {
        let server = try scenario(id).start()
        #expect(try run("connect", "request", "read", port: server.port) == [line])
        #expect(server.waitUntilAnswered(seconds: 20))
    }

    @Test("A response comes with GOAWAY if the next connection meets another attack", arguments: [true, false])
    func replaced(isReplaced: Bool) throws {
        let server = try Server(try scenario("control"), isReplaced: { isReplaced })
        #expect(
            try run("connect", "request", "read", port: server.port) == [isReplaced ? "answered goaway 1" : "answered"])
    }

    @Test("After its last response a loopback server leaves the end of the connection to the client")
    func lastResponse() throws {
        let server = try LoopbackTLSServer(
            catalogue.certificates.genuine, configure: { $0.applicationProtocols = ["h2"] },
            handler: { _ in
                var response = HTTPResponse.ok
                response.closesConnection = true
                return response
            })
        #expect(try run("connect", "request", "read", port: server.port) == ["answered goaway 1"])
        #expect(server.waitUntilClosed())
    }

    @Test("Kept connections leave places for further clients")
    func places() throws {
        let server = try scenario("control").start()
        let steps = Array(repeating: ["connect", "request", "glance"], count: 70).flatMap(\.self)
        let result = try runProcess(
            SlowHTTP2Client.command(steps, port: server.port, anchors: anchors), timeout: 120)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 70 && lines.allSatisfy { $0.hasPrefix("answered") }, "\(lines) \(result.errorOutput)")
    }

    @Test("A kept connection without an open request is over for the judge, and one without a request is not")
    func judged() throws {
        for hasRequest in [true, false] {
            let server = try scenario("control").start()
            let client = try start(
                ["connect"] + (hasRequest ? ["request", "glance"] : []), port: server.port, lines: hasRequest ? 1 : 0)
            for _ in 0..<6_000 where server.observation().completedHandshakeCount == 0 { usleep(10_000) }
            #expect(server.waitUntilAnswered(seconds: 0.2) == hasRequest)
            #expect(server.hasAnsweredAll == hasRequest)
            client.terminate()
        }
    }

    @Test("An observer gets the bytes of a kept connection with each response, and its end only if it brings more")
    func observed() throws {
        let counts = Mutex<[Int]>([])
        let server = try Server(
            try scenario("control"), observer: { seen in counts.withLock { $0.append(seen.requestByteCount) } })
        let client = try start(
            ["connect", "request", "glance", "request", "glance"], port: server.port, lines: 2)
        let seen = counts.withLock(\.self)
        #expect(seen.count == 2 && seen.first == seen.last && seen.allSatisfy { $0 > 0 }, "\(seen)")
        client.terminate()
        #expect(server.waitUntilIdle(seconds: 20))
        #expect(counts.withLock(\.count) == 2)
    }
}
