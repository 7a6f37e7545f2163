import AttackDemo
import Testing

/// Runs the attack demo, which uses the same program for both adapters.
@Suite("Apple: one demo for both adapters")
struct AttackDemoTests {
    @Test(
        "Each attack of the catalogue ends as with the other adapter and gets no byte, also in a system session",
        arguments: [false, true])
    func verdicts(isStored: Bool) async throws {
        let results = try await AttackDemo(isStored: isStored).run()
        #expect(results.count >= 35)
        for result in results { #expect(result.isAsExpected, "\(result)") }
    }
}
