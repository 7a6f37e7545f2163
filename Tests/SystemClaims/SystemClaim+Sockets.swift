internal import PintleSystem
internal import PintleTestKit

extension SystemClaim {
    static let sockets = [
        SystemClaim("A started program inherits its three standard descriptors, and no socket") {
            guard let ends = StreamSocket.pair() else { throw SystemClaimError() }
            defer { for end in [ends.0, ends.1] { close(end) } }
            let server = try LoopbackTCPServer { $0.stall(seconds: 5) }
            let client = try connection(to: server.port)
            defer { close(client) }
            let script = """
                for number in 0 1 2 \(ends.0) \(ends.1) \(client); do
                    if (eval ": <&$number") 2>/dev/null; then echo $number; fi
                done
                """
            return try runProcess(["bash", "-c", script]).output == "0\n1\n2\n"
                && [ends.0, ends.1, client].allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 }
        },
        SystemClaim("A server closes at once, although a client reads nothing of what it sends") {
            let server = try LoopbackTCPServer { stream in
                let bytes = [UInt8](repeating: 0, count: 1 << 20)
                while (try? stream.write(bytes)) != nil {}
            }
            let client = try connection(to: server.port)
            defer { close(client) }
            // The server has filled the buffers by then.
            usleep(300_000)
            let begin = ContinuousClock.now
            server.close()
            return begin.duration(to: .now) < .seconds(5)
        },
        SystemClaim("A client that reads gets every byte of a long response") {
            let server = try LoopbackTCPServer { try? $0.write([UInt8](repeating: 7, count: 8 << 20)) }
            let client = try connection(to: server.port)
            defer { close(client) }
            var (total, buffer) = (0, [UInt8](repeating: 0, count: 1 << 16))
            while true {
                let count = recv(client, &buffer, buffer.count, 0)
                guard count > 0 else { return total == 8 << 20 }
                total += count
            }
        },
    ]

    /// Returns a blocking socket.
    private static func connection(to port: UInt16) throws -> CInt {
        let client = StreamSocket.open(AF_INET)
        guard client >= 0 else { throw SystemClaimError() }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: [127, 0, 0, 1]) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw SystemClaimError() }
        return client
    }
}
