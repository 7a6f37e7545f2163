// Puts another policy in force while a session is in use.

// As on Linux; on Apple's systems Foundation has no module for networking of its own.
#if canImport(PintleURLSession) && canImport(FoundationNetworking)
import Foundation
import FoundationNetworking
import PintleURLSession

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
print(session.configuration, policy.current.generation)
#endif
