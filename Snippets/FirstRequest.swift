// The first pinned request, on Apple's systems and on Linux.

#if canImport(PintleURLSession)
#if canImport(URLLoading)
// On Linux, `make test-apple` has its stand-in for URLSession in this module.
import URLLoading
#endif

// snippet.request
import Foundation
import PintleURLSession

let policy = try PinningPolicy {
    try PinnedHost(
        "example.com",
        pins: ["sha256/bY6xww3evppguEURne+O8rOnqEeJ1Yb25LOlHdYa710="],
        backupPins: ["sha256/IlUuTDxyRpoaeP6UGa3UgqfpAjFEXcdu9vCkpxZVU8s="])
}
let session: URLSession = .pinned(to: policy)
guard let url = URL(string: "https://example.com/") else { throw URLError(.badURL) }
do {
    print(try await session.data(from: url).0.count)
} catch {
    print(TrustRejection(underlying: session.explain(error))?.reason ?? "\(error)")
}
// snippet.end
#endif
