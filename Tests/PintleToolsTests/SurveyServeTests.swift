import Glibc
import Pintle
import PintleTestKit
import Testing

/// A survey of clients that the user starts, as on a device. The tool runs in a separate process.
@Suite(
    "Survey: device",
    .enabled(if: SpawnedTool.path != nil, "skipped: $PINTLE_TOOL names no program; make test builds it"))
struct SurveyServeTests {
    private let directory: TemporaryDirectory
    private let child: ChildProcess

    init() throws {
        directory = try TemporaryDirectory()
        // The address is one of loopback, and counts as one that other machines reach.
        child = try ChildProcess(
            [
                try #require(SpawnedTool.path), "rehearse", "--proxy", "--survey", "--serve", "--listen", "127.0.0.2",
                "--from", "127.0.0.3",
            ], outputFile: directory.path(of: "log"))
        #expect(wait { log.hasSuffix("\n\n") }, "\(log)")
    }

    private var log: String { (try? directory.read("log")).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    private func wait(_ condition: () -> Bool) -> Bool {
        for _ in 0..<6_000 {
            if condition() { return true }
            usleep(10_000)
        }
        return false
    }

    /// Returns the second word of the line with this label.
    private func value(_ label: String) -> String {
        let line = log.split(separator: "\n").first { $0.hasPrefix("  \(label) ") }
        return line?.split(separator: " ").dropFirst().first.map(String.init) ?? ""
    }

    private func curl(from address: String, _ arguments: String...) throws -> ProcessResult {
        try runProcess(["curl", "-sS", "-m", "20", "--interface", address] + arguments, timeout: 40)
    }

    private func end() -> Int32? {
        kill(child.processIdentifier, SIGTERM)
        #expect(wait { child.status != nil })
        return child.status
    }

    @Test("A device meets both authorities twice and then the known one, and the end says how to remove it")
    func device() throws {
        let ca = try directory.write(try curl(from: "127.0.0.3", value("trust")).stdout, to: "ca.pem")
        let url = "https://api.example.com/"
        let codes = try (0..<5).map { _ in
            try curl(from: "127.0.0.3", "-x", "http://" + value("proxy"), "--cacert", ca, url).status
        }
        #expect(codes == [0, 0, 60, 60, 0], "\(log)")
        #expect(wait { log.split(separator: "\n").count { $0.contains("known authority: ") } == 5 })
        #expect(log.contains("unknown authority: refused, alert unknown_ca (48)"))
        #expect(end() == 0, "\(log)")
        #expect(log.contains("\n  api.example.com:443                UNPINNED "), "\(log)")
        #expect(log.contains("\nremove \"Survey Root "))
        #expect(!log.contains("PRIVATE KEY"))
    }

    @Test("Only the address of the device can use the proxy and load the certificate")
    func otherAddress() throws {
        let (proxy, url) = ("http://" + value("proxy"), "https://api.example.com/")
        #expect(try curl(from: "127.0.0.1", "-k", "-x", proxy, url).status != 0)
        #expect(try curl(from: "127.0.0.1", value("trust")).status == 52)
        #expect(try curl(from: "127.0.0.3", "-k", "-x", proxy, url).status == 0)
        #expect(try curl(from: "127.0.0.3", value("trust")).output.hasPrefix("-----BEGIN CERTIFICATE-----"))
        #expect(end() == 0)
    }

    @Test("A device that never uses the proxy proves nothing")
    func unused() {
        #expect(end() == 2)
        #expect(log.contains("does the device use this proxy?"), "\(log)")
    }
}
