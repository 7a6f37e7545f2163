import CCurl
import Foundation
import Glibc
import Pintle
import PintleOpenSSL
import Testing

@testable import PintleURLSession

/// Parts of a transfer, without libcurl.
@Suite("Pinned sessions: the parts of a transfer")
struct TransferPartTests {
    @Test("A file that grows while it is sent is not cut silently", arguments: [true, false])
    func growth(grows: Bool) throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("pintle-\(UUID().uuidString)")
        try Data(repeating: 7, count: 10).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let reader = try BodyReader(.file(path: url.path, size: 10))
        var bytes = [UInt8](repeating: 0, count: 6)
        func read() -> String { bytes.withUnsafeMutableBytes { "\(reader.read(into: $0))" } }
        #expect(read() == "bytes(6)")
        if grows {
            let file = try FileHandle(forWritingTo: url)
            try file.seekToEnd()
            try file.write(contentsOf: Data([8]))
            try file.close()
        }
        #expect(read() == (grows ? "excess" : "bytes(4)"))
        if !grows { #expect(read() == "bytes(0)") }
    }

    @Test("The limit of servers that have asked for HTTP/1.1 removes one of them at a time", arguments: [0, 1, 5])
    func textServers(excess: Int) throws {
        let work = LoopWork()
        let servers = try (1...LoopWork.textServerLimit + excess).map {
            ServerEndpoint(host: try ServerName("localhost"), port: UInt16($0))
        }
        for server in servers { work.noteNeedForHTTP1(of: server) }
        #expect(servers.count { work.needsHTTP1($0) } == LoopWork.textServerLimit)
        #expect(servers.last.map(work.needsHTTP1) == true)
        servers.last.map(work.noteNeedForHTTP1)
        #expect(servers.count { work.needsHTTP1($0) } == LoopWork.textServerLimit)
    }

    @Test(
        "A request whose kept connection ends while libcurl writes is sent once more if it is idempotent",
        arguments: [
            "PUT", "POST", "PUT on a new connection", "PUT over HTTP/2", "PUT with a response",
            "PUT that was sent again",
        ])
    func endWhileWriting(kind: String) throws {
        let policy = try SessionFixture().policy()
        var request = TransferRequest(url: try CurlURL("http://localhost/"))
        request.method = kind == "POST" ? "POST" : "PUT"
        request.content = .data(Data("content".utf8))
        let transfer = Transfer(
            request, in: PolicyGeneration(policy.current, of: policy, validator: PathValidator()),
            options: CurlTransport.Options(), countedBy: TurnCounter(), events: NoEvents())
        transfer.isRepetition = kind == "PUT that was sent again"
        let isKept = kind != "PUT on a new connection"
        transfer.state.phase = .sent(
            Transfer.Connection(
                judge: nil, facts: nil, isStream: kind == "PUT over HTTP/2", isKept: isKept, at: 0))
        if kind == "PUT with a response" {
            _ = Array("HTTP/1.1 413 -\r\n".utf8).withUnsafeBytes { transfer.state.head.read($0, isStream: false) }
        }
        #expect(transfer.beginsRepetition(after: CURLE_SEND_ERROR) == (kind == "PUT"))
        #expect(transfer.wantsFreshConnection == (kind == "PUT"))
    }

    @Test("A connection with too many kept handles costs a request no repetition", arguments: [true, false])
    func fullConnection(isRepetition: Bool) throws {
        let policy = try SessionFixture().policy()
        for (cause, isRepeated) in [(GateError.full, true), (.unfit, !isRepetition)] {
            let transfer = Transfer(
                TransferRequest(url: try CurlURL("https://localhost/")),
                in: PolicyGeneration(policy.current, of: policy, validator: PathValidator()),
                options: CurlTransport.Options(), countedBy: TurnCounter(), events: NoEvents())
            transfer.isRepetition = isRepetition
            transfer.fail(.gate(cause))
            #expect(transfer.beginsRepetition(after: CURLE_SEND_ERROR) == isRepeated)
            #expect(transfer.wantsFreshConnection == isRepeated)
            #expect(transfer.isRepetition == (isRepetition || cause == .unfit))
        }
    }

    @Test("Only the letters of chunked name the coding", arguments: ["K", "\u{212A}"])
    func chunked(letter: String) {
        var reader = HeadReader()
        var fault: String?
        for line in ["HTTP/1.1 200 OK\r\n", "Transfer-Encoding: CHUN\(letter)ED\r\n", "\r\n"] {
            let step = Array(line.utf8).withUnsafeBytes { reader.read($0, isStream: false) }
            if case .fault(let text) = step { fault = text }
        }
        // As strings, the two are equal.
        #expect(fault == (letter.utf8.count == 1 ? nil : "the transfer coding of the response is not chunked"))
    }

    @Test(
        "A socket matches a connection only with both ends of it", arguments: ["same", "peer", "port", "local", "kind"])
    func ends(difference: String) throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        let client = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { for socket in [listener, client] { close(socket) } }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        func with(_ body: (UnsafeMutablePointer<sockaddr>) -> CInt) -> CInt {
            withUnsafeMutablePointer(to: &address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
        }
        let isListening = with { bind(listener, $0, count) } == 0 && listen(listener, 1) == 0
        try #require(isListening)
        try #require(with { getsockname(listener, $0, &count) } == 0)
        try #require(with { connect(client, $0, count) } == 0)
        let port = CInt(UInt16(bigEndian: address.sin_port))
        try #require(with { getsockname(client, $0, &count) } == 0)
        let local = CInt(UInt16(bigEndian: address.sin_port))
        let ends = ConnectionEnds(
            peer: difference == "peer" ? "127.0.0.2" : "127.0.0.1", peerPort: difference == "port" ? port + 1 : port,
            localPort: difference == "local" ? local + 1 : local)
        var pair: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { for socket in pair { close(socket) } }
        #expect(ends.match(difference == "kind" ? pair[0] : client) == (difference == "same"))
    }
}
