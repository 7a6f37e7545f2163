import SystemClaims
import Testing

@Suite("The C library")
struct SystemClaimTests {
    @Test("PintleSystem does on this system what it promises", arguments: SystemClaim.all)
    func holds(claim: SystemClaim) throws {
        #expect(try claim.holds())
    }
}
