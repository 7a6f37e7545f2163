import Glibc
import PintleTestKit

/// A port on loopback that does not answer. Its queue of connections is full, so Linux drops further connections, as a
/// firewall would.
final class SilentPort {
    let port: UInt16
    private var descriptors: [CInt] = []

    init() throws {
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        descriptors.append(listener)
        port = try bindToFreePort(listener)
        guard listen(listener, 0) == 0 else { throw SystemCallError(operation: "listening", code: errno) }
        for _ in 0..<4 {
            let filler = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
            descriptors.append(filler)
            _ = withLoopback(port) { connect(filler, $0, $1) }
        }
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}

/// Returns a port on loopback on which no process listens: it was free a moment ago.
func unusedPort() throws -> UInt16 {
    let probe = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(probe) }
    return try bindToFreePort(probe)
}

private func bindToFreePort(_ descriptor: CInt) throws -> UInt16 {
    guard descriptor >= 0, withLoopback(0, { bind(descriptor, $0, $1) }) == 0 else {
        throw SystemCallError(operation: "binding", code: errno)
    }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    withUnsafeMutableBytes(of: &address) { raw in
        _ = getsockname(descriptor, raw.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
    }
    return UInt16(bigEndian: address.sin_port)
}

func withLoopback(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}
