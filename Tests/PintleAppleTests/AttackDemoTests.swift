import AttackDemo
import Testing

/// The program that runs through both adapters.
@Suite("Apple: one demo for both adapters")
struct AttackDemoTests {
    @Test(
        "Each attack of the catalogue ends as on the other adapter, and gets not a byte; also in the system's own session",
        arguments: [false, true])
    func verdicts(isStored: Bool) async throws {
        let results = try await AttackDemo(isStored: isStored).run()
        #expect(results.count >= 35)
        for result in results { #expect(result.isAsExpected, "\(result)") }
    }
}
