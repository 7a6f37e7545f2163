import Glibc
import PintleTestKit

/// A port of loopback that does not answer: its queue of connections is full and nobody empties it, so
/// Linux drops what else comes, as a firewall would.
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
