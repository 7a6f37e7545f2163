import FoundationEssentials
import Glibc
import Pintle
import PintleTestKit
import Testing

/// mitmproxy between the tool and a server, its authority trusted as on a machine that somebody has
/// prepared for it.
@Suite(
    "A real interceptor",
    .enabled(if: Mitmproxy.program != nil, "skipped: mitmproxy is not installed; make test installs it"))
struct InterceptorTests {
    private let directory: TemporaryDirectory
    private let authority: PintleTestKit.CertificateAuthority
    private let identity: Identity
    private let server: LoopbackTLSServer

    init() throws {
        directory = try TemporaryDirectory()
        authority = try CertificateAuthority.root(name: "Genuine Root")
        identity = try authority.issue(hosts: ["localhost"])
        server = try LoopbackTLSServer(identity)
    }

    @Test("As a proxy it reads what is not pinned, and gets nothing of what is", arguments: Mitmproxy.Mode.allCases)
    func interceptor(_ mode: Mitmproxy.Mode) throws {
        let root = try directory.write(authority.certificate.pem, to: "root.pem")
        let proxy = try Mitmproxy(mode, before: server.port, trusting: root, in: directory)
        let anchors = try directory.write(authority.certificate.pem + proxy.authority(), to: "anchors.pem")
        func check(_ policy: String, throughProxy: Bool) throws -> ToolRun {
            var environment = ["LANG": "C.UTF-8"]
            var arguments = ["check", "https://localhost:\(server.port)/", "--policy", policy, "--anchors", anchors]
            if throughProxy, mode == .regular { environment["HTTPS_PROXY"] = "http://127.0.0.1:\(proxy.port)" }
            if throughProxy, mode == .reverse { arguments += ["--connect-to", "127.0.0.1:\(proxy.port)"] }
            return ToolRun(arguments: arguments + ["--json"], environment: environment)
        }

        let pinned = try policy(pins: [PublicKeyPin(subjectPublicKeyInfo: identity.certificate.spkiDER)])
        let refused = try check(pinned, throughProxy: true)
        #expect(refused.code == 1)
        #expect(try refused.json()["decision"]?.string == "rejected")
        #expect(try refused.json()["reason"]?.string == "pin-mismatch")
        #expect(server.requestByteCount == 0)

        let direct = try check(pinned, throughProxy: false)
        #expect(try direct.json()["reason"]?.string == "pin-matched")

        let unpinned = try check(try policy(pins: []), throughProxy: true)
        #expect(unpinned.code == 0)
        #expect(try unpinned.json()["reason"]?.string == "host-not-pinned")
    }

    private func policy(pins: [PublicKeyPin]) throws -> String {
        let rule = """
            {"host": "localhost", "pins": ["\(pins.first?.description ?? "")"], "backupPins": "none-accepted"}
            """
        return try directory.write(
            #"{"version": 1, "hosts": [\#(pins.isEmpty ? "" : rule)]}"#, to: pins.isEmpty ? "open.json" : "policy.json")
    }
}

/// `mitmdump` on a free port of loopback, from the virtual environment that the set-up makes.
final class Mitmproxy {
    enum Mode: String, CaseIterable, CustomTestStringConvertible {
        /// A CONNECT proxy that opens the tunnel and looks inside.
        case regular
        /// It stands where the server is expected.
        case reverse

        var testDescription: String { rawValue }
    }

    struct NotStarted: Error {
        let output: String
    }

    static let program: String? = {
        let folder = ProcessInfo.processInfo.environment["PINTLE_VENV"] ?? ".build/venv"
        let path = folder + "/bin/mitmdump"
        return access(path, X_OK) == 0 ? path : nil
    }()

    let port: UInt16
    private let files: String
    private let process: ChildProcess

    init(_ mode: Mode, before server: UInt16, trusting root: String, in directory: TemporaryDirectory) throws {
        files = directory.path(of: "mitmproxy")
        let specification = mode == .regular ? "regular" : "reverse:https://localhost:\(server)"
        process = try ChildProcess(
            [
                try #require(Self.program), "--mode", specification, "--listen-host", "127.0.0.1", "--listen-port", "0",
                "--set", "confdir=\(files)", "--set", "ssl_verify_upstream_trusted_ca=\(root)",
                "--set", "termlog_verbosity=info", "--set", "flow_detail=0",
            ], environment: ["PYTHONUNBUFFERED": "1"], outputFile: directory.path(of: "mitmproxy.log"))
        var output = ""
        for _ in 0..<3_000 where process.status == nil {
            output = String(decoding: (try? directory.read("mitmproxy.log")) ?? [], as: UTF8.self)
            if let port = Self.port(in: output) {
                self.port = port
                return
            }
            usleep(10_000)
        }
        throw NotStarted(output: output)
    }

    /// The authority that it signs with, PEM.
    func authority() throws -> String {
        let file = try #require(fopen(files + "/mitmproxy-ca-cert.pem", "r"))
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    /// From the line `... listening at 127.0.0.1:34567.`
    private static func port(in output: String) -> UInt16? {
        let words = output.split { $0.isWhitespace }
        guard let place = words.first(where: { $0.hasPrefix("127.0.0.1:") && $0.hasSuffix(".") }) else { return nil }
        return UInt16(place.dropFirst("127.0.0.1:".count).dropLast())
    }
}
