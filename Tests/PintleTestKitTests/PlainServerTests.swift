import PintleTestKit
import Testing

@Suite("Plain servers")
struct PlainServerTests {
    func curl(_ arguments: [String]) throws -> ProcessResult {
        try runProcess(["curl", "-sS", "--max-time", "20"] + arguments)
    }

    @Test("A handler gets the method, target, fields and content, chunked or not, over one connection")
    func requests() throws {
        let server = try LoopbackTCPServer.http { request in
            .text("\(request.method) \(request.target) \(request["x-a"] ?? "-") \(request.body.count)\n")
        }
        let url = "http://127.0.0.1:\(server.port)/p?q"
        let result = try curl([
            url, "-H", "X-A: 1", "--next", "-sS", url, "-d", "hello", "--next", "-sS", url, "-d", "hello", "-H",
            "Transfer-Encoding: chunked", "--next", "-sS", "-I", url,
        ])
        let lines = result.output.split(whereSeparator: \.isNewline)
        #expect(lines.prefix(3) == ["GET /p?q 1 0", "POST /p?q - 5", "POST /p?q - 5"])
        #expect(lines.dropFirst(3).first == "HTTP/1.1 200 OK")
        #expect(server.connectionCount == 1)
    }

    @Test("Redirects, challenges and raw bytes reach the client")
    func responses() throws {
        let server = try LoopbackTCPServer.http { request in
            switch request.target {
            case "/redirect": .redirect(to: "/end")
            case "/end": .text("end")
            case "/401": .unauthorized()
            default: .raw(Array("nonsense\r\n\r\n".utf8))
            }
        }
        let base = "http://127.0.0.1:\(server.port)"
        #expect(try curl(["-L", base + "/redirect"]).output == "end")
        #expect(try curl(["-o", "/dev/null", "-w", "%{http_code}", base + "/401"]).output == "401")
        #expect(try curl([base + "/raw"]).status != 0)
    }

    @Test("A client with a malformed request gets 400")
    func badRequest() throws {
        let server = try LoopbackTCPServer.http()
        let target = "http://127.0.0.1:\(server.port)/"
        #expect(try curl(["-w", "%{http_code}", "-H", "Content-Length: x", target]).output == "400")
    }

    @Test("A connection can end with a reset")
    func reset() throws {
        let server = try LoopbackTCPServer { connection in
            _ = try? connection.read(upTo: 1_000)
            connection.resetOnClose()
        }
        #expect(try curl(["http://127.0.0.1:\(server.port)/"]).status == 56)
    }
}
