import AttackDemo
import Testing

/// The program that runs through both adapters.
@Suite("Pinned sessions: one demo for both adapters")
struct AttackDemoTests {
    @Test("Each attack of the catalogue ends as on the other adapter, and gets not a byte")
    func verdicts() async throws {
        let results = try await AttackDemo().run()
        #expect(results.count >= 35)
        for result in results { #expect(result.isAsExpected, "\(result)") }
    }
}
