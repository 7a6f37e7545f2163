import Foundation
import NIOPosix
import NIOSSL
import PinnedChannel
import Pintle
import PintleNIO
import PintleOpenSSL
import PintleStorage

/// Opens a web socket at an https URL, with the policy of a file, and waits for its end: `Socket URL POLICY`.
@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let url = URL(string: arguments[1]) else { fail("usage: Socket URL POLICY") }
        do {
            let server = try ServerEndpoint(url: url)
            let policy = try PinningPolicy(contentsOfFile: arguments[2])
            var configuration = TLSConfiguration.makeClientConfiguration()
            // NIOSSL waits so long for a server that does not end its side of a connection.
            configuration.shutdownTimeout = .seconds(1)
            let timing = PinnedTLS.Timing(handshake: .seconds(3))
            let tls = try PinnedTLS(policy: policy, configuration: configuration, timing: timing).onFailure {
                print("told: \($0.reason)")
            }
            let path = url.path.isEmpty ? "/" : url.path
            let socket = try await openWebSocket(
                to: server, path: path, tls, on: MultiThreadedEventLoopGroup.singleton, within: .seconds(3))
            try await socket.executeThenClose { inbound, _ in
                for try await frame in inbound { print("frame \(frame.opcode)") }
            }
        } catch {
            fail("\(error)")
        }
    }

    private static func fail(_ text: String) -> Never {
        print(text)
        exit(1)
    }
}
