import AttackDemo
import Testing

/// Runs the attack demo, which uses the same program for both adapters.
@Suite("Pinned sessions: one demo for both adapters")
struct AttackDemoTests {
    @Test("Each attack of the catalogue ends as with the other adapter, and the attacker gets no byte")
    func verdicts() async throws {
        let results = try await AttackDemo().run()
        #expect(results.count >= 35)
        for result in results { #expect(result.isAsExpected, "\(result)") }
    }
}
