import PintleSystem
import SystemClaims

var failed = false
for claim in SystemClaim.all {
    do {
        if try claim.holds() { continue }
        print("not so: \(claim)")
    } catch {
        print("not so: \(claim): \(error)")
    }
    failed = true
}
exit(failed ? 1 : 0)
