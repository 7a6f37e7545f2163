// Replaces the policy while a session is in use.

#if canImport(PintleURLSession)
import Foundation
import PintleURLSession

#if canImport(URLLoading)
// On Linux, `make test-apple` has its stand-in for URLSession in this module.
import URLLoading
#endif

let bundled = try PinningPolicy {
    try PinnedHost(
        "example.com", pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
        backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
}
let stricter = try PinningPolicy(hosts: Array(bundled.hosts), unpinnedHosts: .reject)
// snippet.change
let policy = LivePolicy(bundled)
let session = URLSession.pinned(to: policy)
// Later, from any thread:
policy.replace(with: stricter)
// snippet.end
print(policy.current.generation)
session.finishTasksAndInvalidate()
#endif
