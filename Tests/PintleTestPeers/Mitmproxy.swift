internal import Glibc
internal import PintleTestKit

/// `mitmdump` on a free loopback port, from the virtual environment that the set-up creates.
///
/// It records the bytes that clients send: see ``traffic(after:)``.
package final class Mitmproxy: Sendable {
    package enum Mode: String, CaseIterable, Sendable {
        /// A CONNECT proxy that opens the tunnel and decrypts it.
        case regular
        /// A reverse proxy in the place of the server.
        case reverse
    }

    package struct NotStarted: Error {
        package let output: String
    }

    /// The decrypted traffic of clients.
    package struct Traffic: Sendable, Hashable {
        /// The number of decrypted bytes, including those of incomplete requests.
        package var bytes = 0
        /// The requests, such as `GET /path`.
        package var requests: [String] = []
        /// The number of handshakes that a client did not complete.
        package var refusals: Int

        package init(refusals: Int = 0) {
            self.refusals = refusals
        }
    }

    /// The path of the program; `nil` skips the tests that need it.
    package static let program: String? = {
        let folder = getenv("PINTLE_VENV").map { String(cString: $0) } ?? ".build/venv"
        let path = folder + "/bin/mitmdump"
        return access(path, X_OK) == 0 ? path : nil
    }()

    package let port: UInt16
    private let files: TemporaryDirectory
    private let process: ChildProcess

    /// - Parameters:
    ///   - mode: The kind of proxy.
    ///   - server: The port on loopback that the reverse proxy forwards requests to.
    ///   - root: The root that the proxy trusts, in PEM.
    package init(_ mode: Mode, before server: UInt16, trusting root: String) throws {
        files = try TemporaryDirectory()
        let trusted = try files.write(root, to: "root.pem")
        let notes = try files.write(Self.noteTaker, to: "notes.py")
        let specification = mode == .regular ? "regular" : "reverse:https://localhost:\(server)"
        process = try ChildProcess(
            [
                Self.program ?? "mitmdump", "--mode", specification, "--listen-host", "127.0.0.1", "--listen-port", "0",
                "--set", "confdir=\(files.path)", "--set", "ssl_verify_upstream_trusted_ca=\(trusted)",
                "--set", "termlog_verbosity=info", "--set", "flow_detail=0", "--scripts", notes,
            ],
            environment: ["PYTHONUNBUFFERED": "1", "PINTLE_NOTES": files.path(of: "notes")],
            outputFile: files.path(of: "log"))
        var output = ""
        for _ in 0..<3_000 where process.status == nil {
            output = String(decoding: (try? files.read("log")) ?? [], as: UTF8.self)
            if let port = Self.port(in: output) {
                self.port = port
                return
            }
            usleep(10_000)
        }
        throw NotStarted(output: output)
    }

    /// Returns the authority that the proxy signs with, in PEM.
    package func authority() throws -> String {
        String(decoding: try files.read("mitmproxy-ca-cert.pem"), as: UTF8.self)
    }

    /// Waits up to ten seconds for a number of refusals, and returns the traffic until then.
    package func traffic(after refusals: Int = 0) -> Traffic {
        var traffic = Traffic()
        for attempt in 0..<1_000 {
            if attempt > 0 { usleep(10_000) }
            traffic = noted
            if traffic.refusals >= refusals { break }
        }
        return traffic
    }

    private var noted: Traffic {
        var traffic = Traffic()
        let notes = String(decoding: (try? files.read("notes")) ?? [], as: UTF8.self)
        for note in notes.split(separator: "\n") {
            let words = note.split(separator: " ", maxSplits: 1)
            switch words.first {
            case "bytes": traffic.bytes += words.last.flatMap { Int($0) } ?? 0
            case "request": traffic.requests.append(words.last.map(String.init) ?? "")
            case "refusal": traffic.refusals += 1
            default: break
            }
        }
        return traffic
    }

    /// A script that records each decrypted piece of a client's data, because mitmproxy has no event for these.
    private static let noteTaker = """
        import os
        from mitmproxy.proxy import events
        from mitmproxy.proxy.layers import tls

        def note(text):
            with open(os.environ["PINTLE_NOTES"], "a") as file:
                file.write(text + "\\n")

        forward = tls.ClientTLSLayer.event_to_child

        def watch(self, event):
            if isinstance(event, events.DataReceived) and event.connection is self.conn:
                note(f"bytes {len(event.data)}")
            yield from forward(self, event)

        tls.ClientTLSLayer.event_to_child = watch

        class Notes:
            def requestheaders(self, flow):
                note(f"request {flow.request.method} {flow.request.path}")

            def tls_failed_client(self, data):
                note("refusal")

        addons = [Notes()]

        """

    /// Returns the port in the line `... listening at 127.0.0.1:34567.`
    private static func port(in output: String) -> UInt16? {
        let words = output.split { $0.isWhitespace }
        guard let place = words.first(where: { $0.hasPrefix("127.0.0.1:") && $0.hasSuffix(".") }) else { return nil }
        return UInt16(place.dropFirst("127.0.0.1:".count).dropLast())
    }
}
