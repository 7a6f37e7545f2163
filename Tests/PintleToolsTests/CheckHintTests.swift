import Pintle
import PintleOpenSSL
import PintlePolicyFile
import PintleTLSClient
import PintleTestKit
import Testing

/// Hints after a handshake that the server refuses.
@Suite("Hints about handshakes that the server refuses")
struct CheckHintTests {
    /// Returns the hint if the server answers the first message with a fatal alert.
    private func hint(alert: UInt8) throws -> String {
        let server = try LoopbackTCPServer { connection in
            _ = try? connection.read(upTo: 4_096)
            try? connection.write([21, 3, 3, 0, 2, 2, alert])
        }
        let directory = try TemporaryDirectory()
        let policy = try directory.write("{\"version\": 1, \"hosts\": []}", to: "policy.json")
        let run = ToolRun(
            "check", "https://example.test/", "--policy", policy, "--connect-to", "127.0.0.1:\(server.port)", "--json")
        #expect(run.code == 3, "\(run.output) \(run.errors)")
        return try run.json()["error"]?["hint"]?.string ?? ""
    }

    @Test("The hint about a refused handshake names the signature algorithm that one side lacks")
    func nothingInCommon() throws {
        let hint = try hint(alert: 40)
        #expect(hint.contains("no cipher suite, curve or signature algorithm in common"), "\(hint)")
        let numbers = openSSLVersion.split(separator: ".").compactMap { Int($0) }
        let knowsMLDSA = !numbers.lexicographicallyPrecedes([3, 5])
        #expect(hint.contains("ML-DSA") == !knowsMLDSA, "\(hint)")
        #expect(try !self.hint(alert: 70).contains("signature algorithm"))
    }
}
