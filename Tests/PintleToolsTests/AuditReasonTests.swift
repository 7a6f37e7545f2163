import Pintle
import Testing

@testable import PintlePolicyTools

/// Results of an audit that a newer version may have written.
@Suite("Audit: reasons")
struct AuditReasonTests {
    @Test(
        "A trusted server whose reason is unknown needs attention, and the reason is named",
        arguments: [("pin-matched", false), ("host-not-pinned", false), ("pins-ignored", true)])
    func trusted(reason: String, needsAttention: Bool) throws {
        let record = try AuditRecord(
            Array(
                """
                {"host": "a.example", "port": 443, "at": "2026-01-01T00:00:00Z", "decision": "trusted", \
                "reason": "\(reason)", "problems": []}
                """.utf8))
        #expect(record.hasWarning == needsAttention)
        #expect(record.problems.map(\.id) == (needsAttention ? ["unknown-reason"] : []))
        #expect(record.problems.allSatisfy { $0.message.contains("\"pins-ignored\"") })
    }
}
